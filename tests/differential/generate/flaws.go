package generate

import "rollgate.dev/differential/jsontree"

// flaws are what a stored template may have that a rule would refuse in a new one, and the fields of
// gates that are off, which an update keeps when the stored template has them.
var flaws = []func(chance, *jsontree.Object){
	set(`containers.0.resources`, `{"limits":{"hugepages-2Mi":"1Mi","cpu":"1"},"requests":{"hugepages-2Mi":"1Mi"}}`, `{"limits":{"hugepages-1Gi":"3Mi"}}`),
	set(`overhead`, `{"hugepages-2Mi":"1Mi","cpu":"1"}`),
	set(`resources`, `{"limits":{"hugepages-2Mi":"1Mi","cpu":"1"}}`),
	set(`affinity.podAffinity`, term(`{"matchLabels":{"a":"b c"}}`), term(`{"matchExpressions":[{"key":"a","operator":"In","values":["x y"]}]}`), term(`{"matchExpressions":[{"key":"a b","operator":"In","values":["x"]}]}`), term(`{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}`)),
	set(`affinity.podAntiAffinity`, term(`{"matchExpressions":[{"key":"a","operator":"NotIn","values":["x y"]}]}`), `{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"a","namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["x y"]}]}}}]}`),
	set(`affinity.nodeAffinity`, `{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["x y"]}]}]}}`, `{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"In","values":["x y"]}]}}]}`),
	set(`topologySpreadConstraints`, spread(`"labelSelector":{"matchLabels":{"a":"b c"}}`), spread(`"labelSelector":{"matchExpressions":[{"key":"a","operator":"X"}]}`)),
	set(`topologySpreadConstraints`, spread(`"matchLabelKeys":["app"],"labelSelector":{"matchExpressions":[{"key":"app","operator":"In","values":["x"]}],"matchLabels":{"app":"x"}}`), spread(`"matchLabelKeys":["app"],"labelSelector":{"matchLabels":{"app":"x"}}`),
		spread(`"matchLabelKeys":["app"]`), spread(`"matchLabelKeys":["a b"],"labelSelector":{}`), spread(`"matchLabelKeys":["app","app"],"labelSelector":{"matchExpressions":[{"key":"app","operator":"Exists"},{"key":"app","operator":"Exists"}]}`)),
	set(`volumes`, volume(`"projected":{"sources":[{"serviceAccountToken":{"path":"../x"}}]}`), volume(`"projected":{"sources":[{"serviceAccountToken":{"path":"/x"}}]}`), volume(`"image":{}`), volume(`"image":{"reference":""},"emptyDir":null`)),
	set(`securityContext.sysctls`, `[{"name":"net.ipv4.x","value":"1"},{"name":"kernel.sem","value":"1"}]`, `[{"name":"net/x","value":"1"}]`),
	set(`hostNetwork`, `true`, `false`), set(`hostIPC`, `true`, `false`), set(`hostUsers`, `false`, `true`, `null`),
	set(`containers.0.volumeDevices`, `[{"name":"data","devicePath":"/dev/x"}]`),
	set(`containers.0.securityContext`, `{"capabilities":{"add":["CAP_SYS_ADMIN"]},"allowPrivilegeEscalation":false}`, `{"capabilities":{"add":["CAP_SYS_ADMIN"]}}`, `{"capabilities":{"add":["CAP_SYS_ADMIN"]},"allowPrivilegeEscalation":true}`),
	annotate(`controller.kubernetes.io/pod-deletion-cost`, "abc", "05", "5", ""),
	set(`initContainers`, `[{"name":"init","image":"b","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]`),
	set(`tolerations`, `[{"key":"a","operator":"Gt","value":"5"}]`, `[{"key":"a","operator":"Lt","value":"05"}]`, `[{"key":"a","operator":"Lt","value":"abc"}]`, `[{"operator":"Gt","value":""}]`, `[{"key":"a","operator":"Gt","value":"9223372036854775808"}]`),
	set(`securityContext.seLinuxChangePolicy`, `"Recursive"`, `"MountOption"`, `"x"`),
	set(`containers.0.restartPolicyRules`, `[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]`, `[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[1]}}]`),
	set(`containers.0.restartPolicy`, `"Always"`, `"Never"`, `"x"`),
	set(`containers.0.env`, `[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"data","path":"a","key":"K"}}}]`),
	set(`volumes`, volume(`"emptyDir":{"mode":511}`), volume(`"emptyDir":{"mode":1024}`), volume(`"emptyDir":{"mode":-1}`)),
	set(`volumes`, volume(`"secret":{"secretName":"s","defaultUser":-1}`), volume(`"configMap":{"name":"s","items":[{"key":"k","path":"p","user":-1}]}`), volume(`"downwardAPI":{"defaultUser":5,"items":[{"path":"a","fieldRef":{"fieldPath":"metadata.name"},"user":2147483648}]}`),
		volume(`"projected":{"defaultUser":-5,"sources":[{"serviceAccountToken":{"path":"x","user":-1}},{"clusterTrustBundle":{"name":"a","path":"y","user":-1}},{"podCertificate":{"signerName":"a.b/c","keyType":"ED25519","keyPath":"z","user":-1}}]}`)),
	set(`containers.0.volumeMounts`, `[{"name":"data","mountPath":"/data","bindMountOptions":["nodev","nodev","x"]}]`, `[{"name":"data","mountPath":"/data","bindMountOptions":[]}]`),
	set(`containers.0.lifecycle`, `{"stopSignal":"SIGTERM"}`, `{"stopSignal":"x","preStop":{"sleep":{"seconds":1}}}`, `{"stopSignal":"SIGRTMIN+3"}`), set(`os`, `{"name":"linux"}`, `{"name":"windows"}`),
	set(`containers.0.livenessProbe`, `{"httpGet":{"port":80,"protocol":"HTTP2"}}`, `{"httpGet":{"port":80,"protocol":"HTTP2","scheme":"HTTPS"}}`, `{"httpGet":{"port":80,"protocol":"HTTP2","host":"h"}}`, `{"httpGet":{"port":80,"protocol":"x"}}`, `{"grpc":{"port":80,"mode":"TLS"}}`, `{"grpc":{"port":80,"mode":"x"}}`),
	set(`containers.0.lifecycle`, `{"postStart":{"httpGet":{"port":80,"protocol":"HTTP2"}}}`, `{"preStop":{"httpGet":{"port":80,"protocol":"x"}}}`),
	set(`schedulingGroup`, `{"podGroupName":"g"}`, `{}`, `{"podGroupName":"A"}`),
	set(`evictionResponders`, `[{"name":"a.b/c","priority":1000}]`, `[{"name":"x","priority":1}]`, `[{"name":"a.k8s.io/c","priority":-1},{"name":"a.k8s.io/c","priority":100001},{"name":"","priority":null}]`, `[{"name":"a.b/c"}]`, many(`{"name":"a.b/c","priority":1000}`, 11)),
}

// term is a required affinity term with a label selector.
func term(selector string) string {
	return `{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":` + selector + `}]}`
}

// spread is a spread constraint with something more in it.
func spread(more string) string {
	return `[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",` + more + `}]`
}

// volume is a list of one volume called data.
func volume(source string) string { return `[{"name":"data",` + source + `}]` }

// many is a list of n equal values.
func many(item string, n int) string {
	s := "["
	for i := range n {
		if i > 0 {
			s += ","
		}
		s += item
	}
	return s + "]"
}
