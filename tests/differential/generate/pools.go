package generate

import "strings"

// Good values, by field or by named type. Bad ones are made from them (chance.spoil), or stand in
// `wrong` where a rule looks for something that spoiling would seldom hit.

var (
	labels     = []string{"app", "web", "data", "cfg", "side", "init", "a", "x1", "b-c"}
	volumes    = []string{"data", "cfg", "tmp", "a"}
	containers = []string{"app", "side", "init", "web"}
	subdomains = []string{"web", "a.b", "example.com", "my-secret", "x.y-z.w"}
	localPaths = []string{"a", "a/b", "b", "a/b/c", "x/y", "dir/file.txt", "..a/b", "a/..b", "a..b", "...", "./a", "a//b", "a/", "/a", "../a", "..", "a/../b", "..a"}
	signers    = []string{"example.com/signer", "kubernetes.io/kube-apiserver-client", "acme.io/a.b", "x.kubernetes.io/y"}
	ports      = []string{"http", "web", "a-1", "metrics"}
	images     = []string{
		"nginx", "nginx:1.25", "nginx:latest", "localhost:5000/a", "localhost/a:b", "registry.example/a/b:v1", "a/b", "Reg.example/a", "Nginx",
		"nginx:", " nginx ", "nginx@sha256:" + strings.Repeat("a1", 32), "nginx:latest@sha256:" + strings.Repeat("0f", 32), "nginx@sha512:" + strings.Repeat("ab", 64),
		"nginx@sha384:" + strings.Repeat("ab", 48), "nginx@sha256:" + strings.Repeat("A1", 32), "nginx@md5:" + strings.Repeat("a", 32), strings.Repeat("a1", 32),
		"docker.io/nginx", "index.docker.io/nginx:latest", "a__b/c--d", "a._b", "[::1]:5000/x", "[fe80::1]/x:latest", "host:port/x", "x:" + strings.Repeat("t", 128),
		"x:" + strings.Repeat("t", 129), "UPPER/x", "a.b/C", "a.b/c:D", "nginx:1.25@sha256:abc", "library/nginx", "docker.io/" + strings.Repeat("a/", 120) + "b", "-x", "x/", "/x", "x:a:b", "x y",
		"nginx@sha256+b64u:" + strings.Repeat("a", 43), "ghcr.io/a/b@sha256:" + strings.Repeat("a", 63), "a-.b/c", "a..b/c", "x:-tag", "x:.tag", "x:_tag", "éx:1",
	}
	fieldPaths = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations", "metadata.labels['app']", "metadata.annotations['a/b']",
		"metadata.labels['A b']", "metadata.annotations['UP.io/X']", "metadata.annotations['']", "metadata.name['x']", "spec.nodeName", "spec.host", "spec.serviceAccountName",
		"spec.restartPolicy", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs", "spec.foo", "metadata", "metadata.labels[app]",
		"metadata.labels['a']['b']", "metadata.labels['a", "spec.nodeName['x']", "metadata.labels['a/b/c']", "metadata.labels['it's']", "status.hostIP['']", "metadata.labels['']",
	}
	addresses = []string{
		"10.0.0.1", "1.1.1.1", "2001:db8::1", "::1", "fe80::1", "2001:DB8::1", "2001:db8:0:0::1", "010.0.0.1", "1.1.1.01", "::ffff:1.2.3.4", "::ffff:0102:0304", "1.2.3", "1.2.3.4.5", "256.1.1.1",
		"fe80::1%eth0", "1.2.3.4/24", "::", "::1.2.3.4", "0.0.0.0", "255.255.255.255", "1.2.3.-4", "::00001", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1::2::3", ":1", "::ffff:010.2.3.4", "1.2.3.004", "0x1.2.3.4", "64:ff9b::1.2.3.4", "2001:db8::0:1", "[::1]",
	}
	labelKeys = []string{
		"app", "tier", "a/b", "example.com/name", "app.kubernetes.io/name", "A.b_c", "kubernetes.io/os", "beta.kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "app.kubernetes.io/created-by", "scheduler.alpha.kubernetes.io/preferAvoidPods", "node-role.kubernetes.io/master",
		"topology.kubernetes.io/zone", "kubernetes.io/hostname", "a/b/c", "/a", "a/", "Up.io/a", "a b", "", "-a", "a-", strings.Repeat("k", 63), strings.Repeat("k", 64), strings.Repeat("p", 253) + "/k", strings.Repeat("p", 254) + "/k", "é", "a/é",
	}
	labelValues = []string{"app", "web", "1", "a_b.c", "", "A", strings.Repeat("v", 63), strings.Repeat("v", 64), "a b", "-a", "a-", "é", "a/b", "true", "x\n"}
	annotations = []string{
		"a", "example.com/Note", "A/b", "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost", "scheduler.alpha.kubernetes.io/tolerations", "scheduler.alpha.kubernetes.io/critical-pod",
		"security.alpha.kubernetes.io/sysctls", "security.alpha.kubernetes.io/unsafe-sysctls", "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/app",
		"container.seccomp.security.alpha.kubernetes.io/init", "container.seccomp.security.alpha.kubernetes.io/ghost", "container.seccomp.security.alpha.kubernetes.io/", "container.apparmor.security.beta.kubernetes.io/app", "container.apparmor.security.beta.kubernetes.io/init",
		"container.apparmor.security.beta.kubernetes.io/ghost", "container.apparmor.security.beta.kubernetes.io/", "deprecated.deployment.rollback.to", "pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers",
		"pod.beta.kubernetes.io/init-container-statuses", "pod.alpha.kubernetes.io/init-container-statuses", "kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision", "a/b/c", "", "a b", "a/", "/a", "UP.io/UP",
		"kubernetes.io/created-by", "pod.kubernetes.io/x", "endpoints.kubernetes.io/last-change-trigger-time", "volume.beta.kubernetes.io/storage-class", "scheduler.alpha.kubernetes.io/affinity",
	}
	annotationValues = map[string][]string{
		"controller.kubernetes.io/pod-deletion-cost":     {"0", "5", "-5", "-05", "05", "+5", "-0", "2147483647", "2147483648", "-2147483648", "-2147483649", "abc", "", "1.5", " 1", "00", "1_000", "0x1"},
		"scheduler.alpha.kubernetes.io/tolerations":      {`[]`, `[{"key":"a","operator":"Exists"}]`, `[{"key":"a b"}]`, `[{"operator":"Equal"}]`, `{}`, `x`, `[{"key":"a","value":"v v","effect":"Never"}]`, `[{"key":1}]`, `[`, ``, `null`, `[{"key":"a","operator":"Gt","value":"1"}]`, `[{"effect":"NoExecute","tolerationSeconds":"x"}]`, `[1]`, `{"key":"a"}`, `[] x`, `"a"`, `[null]`, `[{"unknown":1}]`},
		"deprecated.deployment.rollback.to":              {"1", "0", "-1", "abc", "", "9223372036854775808", "+1", " 1", "1_0", "0x1", "\"", "-9223372036854775808"},
		"seccomp.security.alpha.kubernetes.io/pod":       seccompProfiles,
		"container.seccomp.security.alpha.kubernetes.io": seccompProfiles,
		"container.apparmor.security.beta.kubernetes.io": {"runtime/default", "unconfined", "localhost/p", "localhost/", "", "x", "docker/default", "localhost", "RUNTIME/default", "localhost/a b"},
	}
	seccompProfiles = []string{"runtime/default", "docker/default", "unconfined", "localhost/p", "localhost/", "localhost/../p", "localhost//p", "x", "", "localhost", "Unconfined", "localhost/a\"b"}
	resources       = []string{
		"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "nvidia.com/gpu", "example.com/x", "storage", "pods", "services", "requests.cpu", "limits.memory", "bogus", "Cpu", "hugepages-", "hugepages-x", "hugepages-0", "hugepages--1",
		"hugepages-1.5Ki", "hugepages-1e3", "hugepages-+2Mi", "hugepages-1m", "requests.example.com/x", "kubernetes.io/x", "a.kubernetes.io/x", "x/y/z", "a b", "", "requests.hugepages-2Mi", "configmaps", "replicationcontrollers", "resourcequotas", "secrets", "persistentvolumeclaims", "services.nodeports",
		"services.loadbalancers", "requests.storage", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.ephemeral-storage", "attachable-volumes-x", "example.com/" + strings.Repeat("x", 54), "example.com/" + strings.Repeat("x", 63), "count/x", "deployments.apps", "hugepages-2Mi.x", "hugepages-64k", "example.com/hugepages-2Mi", "kubernetes.io.evil/x",
	}
	divisors = []string{"0", "1", "1m", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", "10m", "2", "1024", "1000", "1000m", "1000k", "0.001", "1024Ki", "1e3", "1e0", "1E3", "-1", "1u", "1000u", "0Ki", "+1", "01"}
	topology = []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone", "zone", "failure-domain.beta.kubernetes.io/zone", "beta.kubernetes.io/os", "a b", "", "x/y/z"}
)

// texts are good values of string fields, by `Struct.key`.
var texts = map[string][]string{
	"TypeMeta.kind": {"Deployment"}, "TypeMeta.apiVersion": {"apps/v1"},
	"ObjectMeta.name": {"web", "a.b", "x-1", "app"}, "ObjectMeta.generateName": {"web-", "a", "a.b-", "a-", "-", "x--", "a.-", "a_-"}, "ObjectMeta.namespace": {"default", "default", "default", "", "other"},
	"ObjectMeta.selfLink": {"/x", ""}, "ObjectMeta.uid": {"11111111-1111-1111-1111-111111111111", "u1"}, "ObjectMeta.resourceVersion": {"1", "7", "abc"},
	"ObjectMeta.finalizers":     {"example.com/f", "orphan", "foregroundDeletion", "kubernetes", "kubernetes.io/pvc-protection", "plain", "a/b/c", "", "/a"},
	"OwnerReference.apiVersion": {"v1", "apps/v1", "a/b/c", "/v1", "a/", "", "example.com/v1"}, "OwnerReference.kind": {"Event", "ReplicaSet", "Foo"}, "OwnerReference.name": {"o", "p"}, "OwnerReference.uid": {"1", "2", "3"},
	"ManagedFieldsEntry.manager": {"kubectl", "m\x07", "a\u200bb", strings.Repeat("m", 128), strings.Repeat("m", 129), "日本", "a\nb", " ", "\u00ad", "\U0001f600"}, "ManagedFieldsEntry.apiVersion": {"apps/v1", "", "x"},
	"ManagedFieldsEntry.fieldsType": {"FieldsV1", "", "FieldsV2"}, "ManagedFieldsEntry.subresource": {"status", "", strings.Repeat("s", 256), strings.Repeat("s", 257)},
	"LabelSelectorRequirement.key": labelKeys, "LabelSelectorRequirement.values": labelValues, "NodeSelectorRequirement.key": append([]string{"metadata.name", "metadata.name"}, labelKeys...), "NodeSelectorRequirement.values": append([]string{"node-1", "5", "a.b"}, labelValues...),
	"PodSpec.serviceAccountName": subdomains, "PodSpec.serviceAccount": subdomains, "PodSpec.nodeName": subdomains, "PodSpec.hostname": labels, "PodSpec.subdomain": labels, "PodSpec.schedulerName": {"default-scheduler", "custom", "A B"},
	"PodSpec.priorityClassName": {"high", "system-node-critical", "system-cluster-critical", "a.b"}, "PodSpec.runtimeClassName": {"gvisor", "", "a.b", "A"}, "PodSpec.hostnameOverride": {"host", "a.b", strings.Repeat("h", 64), strings.Repeat("h", 65), ""},
	"Volume.name": volumes, "HostPathVolumeSource.path": {"/var", "/", "a", "/a/../b", "..", "/a..b", "C:\\x", ""}, "GCEPersistentDiskVolumeSource.pdName": {"pd"}, "AWSElasticBlockStoreVolumeSource.volumeID": {"vol-1"},
	"GitRepoVolumeSource.repository": {"https://x/y"}, "GitRepoVolumeSource.directory": localPaths, "SecretVolumeSource.secretName": subdomains, "KeyToPath.key": {"k", "k2", "a.b", ""}, "KeyToPath.path": localPaths,
	"NFSVolumeSource.server": {"nfs"}, "NFSVolumeSource.path": {"/x", "x", "/"},
	"ISCSIVolumeSource.targetPortal": {"10.0.0.1:3260", strings.Repeat("p", 58), strings.Repeat("p", 60)}, "ISCSIVolumeSource.iqn": iqns, "ISCSIVolumeSource.initiatorName": iqns, "ISCSIVolumeSource.iscsiInterface": {"default", "eth0"},
	"LocalObjectReference.name": append([]string{"a-", "A"}, subdomains...), "GlusterfsVolumeSource.endpoints": {"e"}, "GlusterfsVolumeSource.path": {"p", "../p"}, "PersistentVolumeClaimVolumeSource.claimName": {"claim", "A B"},
	"RBDVolumeSource.monitors": {"m1", "m2"}, "RBDVolumeSource.image": {"img"}, "FlexVolumeSource.driver": {"example.com/d"}, "CinderVolumeSource.volumeID": {"v"}, "CephFSVolumeSource.monitors": {"m"},
	"FlockerVolumeSource.datasetName": {"d", "a/b"}, "FlockerVolumeSource.datasetUUID": {"u"}, "DownwardAPIVolumeFile.path": localPaths, "ObjectFieldSelector.apiVersion": {"v1", "v1", "v2", ""}, "ObjectFieldSelector.fieldPath": fieldPaths,
	"ResourceFieldSelector.containerName": containers, "ResourceFieldSelector.resource": {"limits.cpu", "limits.memory", "limits.ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.hugepages-2Mi", "requests.hugepages-", "limits.storage", "cpu"},
	"FCVolumeSource.targetWWNs": {"50060e801049cfd1"}, "FCVolumeSource.wwids": {"w1"}, "AzureFileVolumeSource.secretName": {"s"}, "AzureFileVolumeSource.shareName": {"s"}, "VsphereVirtualDiskVolumeSource.volumePath": {"[ds] v"},
	"QuobyteVolumeSource.registry": {"reg:80", "a:1,b:2", "a", "a:1,b", ":80", "a:1,,b:2", "[::1]:80", "a:b:c", ",", "a:"}, "QuobyteVolumeSource.volume": {"v"}, "QuobyteVolumeSource.tenant": {"t", strings.Repeat("t", 64), strings.Repeat("t", 65)},
	"AzureDiskVolumeSource.diskName": {"d"}, "AzureDiskVolumeSource.diskURI": {"/subscriptions/x", "https://a.blob.core.windows.net/c/d.vhd", "x", "/Subscriptions/x", "http://x"}, "PhotonPersistentDiskVolumeSource.pdID": {"p"},
	"ServiceAccountTokenProjection.path": localPaths, "ServiceAccountTokenProjection.audience": {"vault"}, "ClusterTrustBundleProjection.path": localPaths,
	"ClusterTrustBundleProjection.name":       {"ctb", "a.b", "example.com:signer:b", ":x", "a/b:c", "a:b:", "A", "", "a:b:c:d", "example.com/signer:x", "a:B", "a:b.c"},
	"ClusterTrustBundleProjection.signerName": append([]string{""}, signers...), "PodCertificateProjection.signerName": append(badSigners, signers...),
	"PodCertificateProjection.keyType": {"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA2048"}, "PodCertificateProjection.credentialBundlePath": localPaths, "PodCertificateProjection.keyPath": localPaths, "PodCertificateProjection.certificateChainPath": localPaths,
	"PortworxVolumeSource.volumeID": {"v"}, "ScaleIOVolumeSource.gateway": {"g"}, "ScaleIOVolumeSource.system": {"s"}, "ScaleIOVolumeSource.volumeName": {"v"}, "ScaleIOVolumeSource.storageMode": {"ThickProvisioned", "x"},
	"StorageOSVolumeSource.volumeName": labels, "StorageOSVolumeSource.volumeNamespace": labels, "CSIVolumeSource.driver": {"csi.example.com", "CSI.Example.com", strings.Repeat("d", 63), strings.Repeat("d", 64), "a_b"},
	"PersistentVolumeClaimSpec.storageClassName": append([]string{""}, subdomains...), "PersistentVolumeClaimSpec.volumeAttributesClassName": append([]string{""}, subdomains...), "PersistentVolumeClaimSpec.volumeName": {"", "pv"},
	"TypedLocalObjectReference.apiGroup": {"", "snapshot.storage.k8s.io", "A"}, "TypedLocalObjectReference.kind": {"PersistentVolumeClaim", "VolumeSnapshot"}, "TypedLocalObjectReference.name": {"src", "src2"},
	"TypedObjectReference.apiGroup": {"", "snapshot.storage.k8s.io", "A"}, "TypedObjectReference.kind": {"PersistentVolumeClaim", "VolumeSnapshot"}, "TypedObjectReference.name": {"src", "src2"}, "TypedObjectReference.namespace": {"", "default", "other", "a.b"},
	"ImageVolumeSource.reference": images, "Container.name": containers, "EphemeralContainerCommon.name": append([]string{"debug", "debug2"}, containers...), "Container.image": images, "EphemeralContainerCommon.image": images,
	"EphemeralContainer.targetContainerName": append([]string{"ghost", ""}, containers...), "ContainerPort.name": ports, "ContainerPort.hostIP": {"", "10.0.0.1", "::1", "127.0.0.1", "x"},
	"EnvFromSource.prefix": {"P_", "1", "a=b", "é", ""}, "EnvVar.name": {"A", "B", "A.b", "1", "a b", "A=B", "é", "x\ty"}, "EnvVar.value": {"", "x", "$(A)", "$(A)x", "$$(A)", "x$(B)", "$(A)$(A)", "$(", "y"},
	"ConfigMapKeySelector.key": configKeys, "SecretKeySelector.key": configKeys, "FileKeySelector.key": {"K", "a=b", "é", ""}, "FileKeySelector.volumeName": volumes, "FileKeySelector.path": append([]string{"/a"}, localPaths...),
	"ResourceClaim.name": {"gpu", "net", "x"}, "ResourceClaim.request": {"", "r1", "r2", "A"}, "PodResourceClaim.name": {"gpu", "net", "x", "A"}, "PodResourceClaim.resourceClaimName": subdomains, "PodResourceClaim.resourceClaimTemplateName": subdomains,
	"VolumeMount.name": append([]string{"ghost"}, volumes...), "VolumeMount.mountPath": {"/data", "/etc", "data", "/a:b", "C:\\x", "/data/", "..", ""}, "VolumeMount.subPath": localPaths, "VolumeMount.subPathExpr": append([]string{"$(A)", "../$(A)", "/$(A)"}, localPaths...),
	"VolumeMount.bindMountOptions": {"nodev", "noexec", "nosuid", "ro"}, "VolumeDevice.name": append([]string{"ghost"}, volumes...), "VolumeDevice.devicePath": {"/dev/x", "/dev/y", "/data", "/dev/../x", "..", ""},
	"ExecAction.command": {"true", "sh", ""}, "HTTPGetAction.path": {"/", "a/b", "", "?x"}, "HTTPGetAction.host": {"", "h"}, "HTTPHeader.name": {"X-A", "a b", "X_A", "", ":path", "É"}, "GRPCAction.service": {"", "svc"},
	"SELinuxOptions.level": {"s0:c1,c2", ""}, "SELinuxOptions.user": {"u"}, "SELinuxOptions.role": {"r"}, "SELinuxOptions.type": {"t"},
	"WindowsSecurityContextOptions.gmsaCredentialSpecName": subdomains, "WindowsSecurityContextOptions.gmsaCredentialSpec": {"{}", ""}, "WindowsSecurityContextOptions.runAsUserName": userNames,
	"SeccompProfile.localhostProfile": append([]string{"p", ""}, localPaths...), "AppArmorProfile.localhostProfile": {"p", "", " p", "p ", strings.Repeat("p", 4095), strings.Repeat("p", 4096), "a/b", "\tp", "é"},
	"Sysctl.name": sysctls, "PodAffinityTerm.namespaces": append([]string{"a.b", ""}, labels...), "PodAffinityTerm.topologyKey": topology, "PodAffinityTerm.matchLabelKeys": append([]string{"app", "app", "app", "tier"}, labelKeys...), "PodAffinityTerm.mismatchLabelKeys": append([]string{"app", "app", "app", "tier"}, labelKeys...),
	"Toleration.key": labelKeys, "Toleration.value": append([]string{"1", "01", "-0", "-1", "+1", "9223372036854775807", "9223372036854775808", "abc"}, labelValues...), "HostAlias.ip": addresses, "HostAlias.hostnames": append([]string{"A.b", "a_b"}, subdomains...),
	"PodDNSConfig.nameservers": addresses, "PodDNSConfig.searches": {"a.b", ".", "_x.y", "a.", "A", "a..b", "x_y.z", "-a", strings.Repeat("s", 253), strings.Repeat("s.", 127), "", ".."}, "PodDNSConfigOption.name": {"ndots", ""},
	"TopologySpreadConstraint.topologyKey": topology, "TopologySpreadConstraint.matchLabelKeys": append([]string{"app", "app", "app", "tier"}, labelKeys...), "PodSchedulingGate.name": {"g1", "example.com/g", "a b"}, "PodSchedulingGroup.podGroupName": subdomains,
	"EvictionResponder.name": {"example.com/r", "x.kubernetes.io/r", "plain", "k8s.io/r", "kubernetes.io/r", "a/b/c", ""}, "DeploymentCondition.reason": {"", "R"}, "DeploymentCondition.message": {"", "m"},
}

var (
	iqns = []string{
		"iqn.2001-04.com.example:storage", "iqn.2001-04.com.example:storage:disk", "eui.0123456789ABCDEF", "naa.0123456789ABCDEF0123456789ABCDEF", "iqn.2001-04.com.example", "iqn.x", "eui.1", "naa.1", "iqn.2001-04.com.example:a b", "xiqn.2001-04.a:b",
		"iqn.2001-04.:x", "iqn.2001-04.é:x", "eui.0123456789ABCDEG", "euix0123456789ABCDEF", "naa.0123456789abcdef0123456789abcdeg", "iqn.2001-4.a:b", "iqn.2001-04.a:b,c", "iqn.2001-04.a:", "iqn.iqn.2001-04.a:b", "iqn.2001-04.a:b\n", "iqn", "", "EUI.0123456789ABCDEF", "iqn.2001-04.a_b:c", "iqn.2001-04.a:é", "iqn.٢٠٠١-04.a:b",
	}
	badSigners = []string{
		"", "x", "a/b", "a/b/c", "example.com/", "/x", "Example.com/a", "example.com/A", "a.b/c..d", "example.com/" + strings.Repeat("p", 253), strings.Repeat("a.", 130) + "b/c", "a.b/" + strings.Repeat("p.", 300) + "q", "-a.b/c", "a.b/-c",
		strings.Repeat("a", 64) + ".b/c", "kubernetes.io/x", "a_b.c/d",
	}
	configKeys = []string{"k", "a.b", "K_1", ".", "..", "..a", ".a", "a/b", "", strings.Repeat("k", 253), strings.Repeat("k", 254), "é", "a b"}
	userNames  = []string{
		"user", "DOMAIN\\user", "", "a\\b\\c", "a\x01b", "\\user", "DOMAIN\\", strings.Repeat("d", 256) + "\\u", strings.Repeat("d", 16) + "\\u", strings.Repeat("u", 104), strings.Repeat("u", 105), "...", " ", ". .", "us/er", "us*er", "a:b\\u", ".dom\\u", "dom.example\\u", "NT AUTHORITY\\SYSTEM", "a@b",
		strings.Repeat("d", 15) + "\\u", strings.Repeat("d", 255) + "\\u", "-a.b\\u", "é\\u", "dom\\é", "a..b\\u", "a_b\\u", strings.Repeat("x.", 20) + "y\\u", "d\\u\"", "d\\[u]", "d o m\\u", "u\u0085", "123456789012345é\\u",
	}
	sysctls = []string{
		"kernel.shm_rmid_forced", "net.ipv4.ip_forward", "net/ipv4/ip.x", "net/ipv4/conf/eth0.1/x", "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg", "kernel.msg_x", "fs.mqueue.msg_max", "fs/mqueue/x", "vm.swappiness", "A.b", "a..b", ".a", "a_", "_a", "",
		"net", "net.", "kernel/sem", "kernel/shm.x", "a/b.c", strings.Repeat("s", 253), strings.Repeat("s", 254), "fs.mqueue", "netx.a", "a/", "a.b/c", "kernel.sem.x",
	}
)
