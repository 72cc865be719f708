// Package controller stands in for the built-in Deployment controller while run.py runs upstream's
// integration tests: the controller is rollgate, in a process of its own.
package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ServerConfig says how to reach the API server of the test at hand. run.py has the tests set it.
var ServerConfig *restclient.Config

// DeploymentController is rollgate, not started yet.
type DeploymentController struct {
	folder string
}

// NewDeploymentController writes the kubeconfig of a controller for ServerConfig; the informers and the
// client of the built-in one are left alone.
func NewDeploymentController(context.Context, appsinformers.DeploymentInformer, appsinformers.ReplicaSetInformer, coreinformers.PodInformer, clientset.Interface) (*DeploymentController, error) {
	if ServerConfig == nil {
		return nil, errors.New("the test has not set ServerConfig")
	}
	folder, err := os.MkdirTemp("", "rollgate")
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{
		Server:                   ServerConfig.Host,
		TLSServerName:            ServerConfig.ServerName,
		CertificateAuthority:     ServerConfig.CAFile,
		CertificateAuthorityData: ServerConfig.CAData,
	}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: ServerConfig.BearerToken}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	return &DeploymentController{folder}, clientcmd.WriteToFile(*config, filepath.Join(folder, "kubeconfig"))
}

// Run is rollgate's whole life: it is killed without warning when ctx ends.
func (c *DeploymentController) Run(ctx context.Context, _ int) {
	defer os.RemoveAll(c.folder)
	command := exec.CommandContext(ctx, os.Getenv("ROLLGATE"), "controller",
		"--kubeconfig", filepath.Join(c.folder, "kubeconfig"), "--leader-elect=false", "--takeover-check=off")
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	// A test program that ends before it has killed anything takes rollgate along. That goes by the thread.
	runtime.LockOSThread()
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Run(); ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "rollgate ended by itself:", err)
		os.Exit(1)
	}
}
