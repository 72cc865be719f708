package generate

import (
	"strconv"
	"strings"

	"rollgate.dev/differential/jsontree"
)

// set gives a step that puts one of some values at a path below the pod spec. A number in the path
// is an index; the container or volume there is made when it is missing.
func set(path string, values ...string) func(chance, *jsontree.Object) {
	parsed := make([]jsontree.Node, len(values))
	for i, v := range values {
		parsed[i] = jsontree.MustParse(v)
	}
	steps := strings.Split(path, ".")
	return func(c chance, o *jsontree.Object) {
		at := podOf(o)
		for i := 0; i < len(steps)-1; i++ {
			if i+1 < len(steps)-1 {
				if index, err := strconv.Atoi(steps[i+1]); err == nil {
					at = item(at.Array(steps[i]), index)
					i++
					continue
				}
			}
			at = at.Child(steps[i])
		}
		at.Set(steps[len(steps)-1], jsontree.Clone(pick(c, parsed)))
	}
}

// item gives the object at an index of a list, making the list longer when need be.
func item(l *jsontree.List, index int) *jsontree.Object {
	for len(l.Items) <= index {
		l.Items = append(l.Items, jsontree.MustParse(`{"name":"x`+strconv.Itoa(len(l.Items))+`","image":"b"}`))
	}
	if o, ok := l.Items[index].(*jsontree.Object); ok {
		return o
	}
	o := &jsontree.Object{}
	l.Items[index] = o
	return o
}

// annotate gives a step that sets an annotation of the template.
func annotate(key string, values ...string) func(chance, *jsontree.Object) {
	return func(c chance, o *jsontree.Object) {
		o.Child("spec").Child("template").Child("metadata").Child("annotations").Set(key, jsontree.Text(pick(c, values)))
	}
}

// some gives a step that takes several of the given ones, each with a probability of a half.
func some(steps ...func(chance, *jsontree.Object)) func(chance, *jsontree.Object) {
	return func(c chance, o *jsontree.Object) {
		for _, s := range steps {
			if c.often(0.5) {
				s(c, o)
			}
		}
	}
}

// situations are fields that only matter together, or that chance would seldom bring about.
var situations = []func(chance, *jsontree.Object){
	some( // a Windows pod
		set(`os`, `{"name":"windows"}`, `{"name":"windows"}`, `{"name":"linux"}`, `{"name":""}`, `{}`, `{"name":"Windows"}`),
		set(`securityContext`, `{"windowsOptions":{"hostProcess":true,"runAsUserName":"u"}}`, `{"seLinuxOptions":{},"seccompProfile":{"type":"RuntimeDefault"},"fsGroup":1,"fsGroupChangePolicy":"Always","sysctls":[{"name":"a.b","value":""}],"runAsUser":1,"runAsGroup":1,"supplementalGroups":[1],"supplementalGroupsPolicy":"Merge","seLinuxChangePolicy":"Recursive","appArmorProfile":{"type":"Unconfined"}}`, `{"sysctls":[],"supplementalGroups":[]}`),
		set(`containers.0.securityContext`, `{"windowsOptions":{"hostProcess":true}}`, `{"windowsOptions":{"hostProcess":false}}`, `{"windowsOptions":{}}`, `{"seLinuxOptions":{},"seccompProfile":{"type":"Unconfined"},"capabilities":{},"readOnlyRootFilesystem":true,"privileged":false,"allowPrivilegeEscalation":true,"procMount":"Default","runAsUser":1,"runAsGroup":1,"appArmorProfile":{"type":"Unconfined"}}`),
		set(`initContainers.0.securityContext`, `{"windowsOptions":{"hostProcess":true}}`, `{"windowsOptions":{"hostProcess":false}}`, `{}`),
		set(`hostNetwork`, `true`), set(`hostPID`, `true`, `false`), set(`hostIPC`, `true`), set(`shareProcessNamespace`, `true`, `false`), set(`hostUsers`, `false`, `true`), set(`resources`, `{"limits":{"cpu":"1"}}`, `{}`),
		annotate(`container.apparmor.security.beta.kubernetes.io/app`, "unconfined"),
	),
	some( // host namespaces
		set(`hostNetwork`, `true`), set(`hostPID`, `true`), set(`hostIPC`, `true`), set(`hostUsers`, `false`, `true`), set(`shareProcessNamespace`, `true`), set(`containers.0.volumeDevices`, `[{"name":"data","devicePath":"/d"}]`), set(`hostnameOverride`, `"h"`, `""`, `"A"`), set(`setHostnameAsFQDN`, `true`),
		set(`containers.0.ports`, `[{"containerPort":80,"hostPort":81}]`, `[{"containerPort":80,"hostPort":80},{"containerPort":80,"hostPort":80,"protocol":"UDP"},{"containerPort":81,"hostPort":80}]`), set(`initContainers.0.ports`, `[{"containerPort":80,"hostPort":80},{"containerPort":81,"hostPort":80}]`, `[{"containerPort":80,"hostPort":81}]`),
		set(`initContainers.1.ports`, `[{"containerPort":80,"hostPort":80},{"containerPort":81,"hostPort":80}]`), set(`containers.0.securityContext.procMount`, `"Unmasked"`, `"Default"`), set(`securityContext.sysctls`, `[{"name":"net.x","value":"1"},{"name":"kernel.shm_rmid_forced","value":"1"},{"name":"net.x","value":"2"}]`),
	),
	some( // resources of the pod and of its containers
		set(`resources`, `{"limits":{"cpu":"1","memory":"64Mi"},"requests":{"cpu":"500m"}}`, `{"requests":{"cpu":"100m","memory":"1Mi"}}`, `{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}`, `{"limits":{"nvidia.com/gpu":"1"}}`, `{"requests":{"hugepages-2Mi":"2Mi","memory":"1Gi"},"limits":{"hugepages-2Mi":"2Mi"}}`, `{"claims":[{"name":"gpu"}]}`),
		set(`containers.0.resources`, `{"limits":{"cpu":"2","memory":"128Mi"},"requests":{"cpu":"800m","memory":"1Mi"}}`, `{"limits":{"hugepages-2Mi":"4Mi","cpu":"1"}}`, `{"requests":{"cpu":"0.0001","memory":"1.5"}}`), set(`containers.1.resources`, `{"requests":{"cpu":"300m","memory":"2Mi"},"limits":{"memory":"1Gi","cpu":"1001m"}}`),
		set(`initContainers.0.resources`, `{"requests":{"cpu":"2","memory":"3Mi"}}`, `{"limits":{"hugepages-2Mi":"8Mi","memory":"1"}}`), set(`initContainers.0.restartPolicy`, `"Always"`), set(`initContainers.1.resources`, `{"requests":{"cpu":"500m"},"limits":{"cpu":"700m"}}`), set(`resourceClaims`, `[{"name":"gpu","resourceClaimName":"c"}]`),
	),
	some( // claims
		set(`resourceClaims`, `[{"name":"gpu","resourceClaimName":"c"},{"name":"net","resourceClaimTemplateName":"t"}]`, `[{"name":"gpu"},{"name":"gpu","resourceClaimName":"A","resourceClaimTemplateName":"b"}]`, `[]`), set(`containers.0.resources.claims`, `[{"name":"gpu"},{"name":"gpu"}]`, `[{"name":"gpu","request":"a"},{"name":"gpu","request":"a"},{"name":"gpu"}]`, `[{"name":"gpu"},{"name":"gpu","request":"A"},{"name":"x"}]`, `[{"name":""},{"name":"z","request":"r"}]`),
		set(`initContainers.0.resources.claims`, `[{"name":"net"}]`, `[{"name":"y"}]`), set(`resources.claims`, `[{"name":"gpu"},{"name":"q"}]`),
	),
	some( // name resolution
		set(`dnsPolicy`, `"None"`, `"None"`, `"Default"`, `"x"`), set(`dnsConfig`, `{}`, `{"nameservers":[]}`, `{"nameservers":["1.1.1.1"]}`, `{"nameservers":["1.1.1.1","1.1.1.2","::1","x"]}`, `{"searches":`+many(`"a"`, 33)+`}`, `{"searches":`+many(`"`+strings.Repeat("s", 60)+`"`, 32)+`}`, `{"searches":`+many(`"`+strings.Repeat("s", 63)+`"`, 32)+`}`, `{"searches":["`+strings.Repeat("é", 60)+`"],"options":[{},{"name":"x"}]}`),
		set(`hostAliases`, `[{"ip":"1.1.1.1","hostnames":["a"]},{"ip":"1.1.1.1"},{"ip":"2001:DB8::1"},{"ip":"2001:DB8::1"}]`),
	),
	some( // restart rules
		set(`containers.0.restartPolicyRules`, many(`{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}`, 21), `[{"action":"Restart","exitCodes":{"operator":"In","values":`+many("1", 256)+`}}]`, `[{"action":"x"},{"exitCodes":{}}]`), set(`containers.0.restartPolicy`, `"Never"`, `""`, `"x"`),
		set(`initContainers.0.restartPolicyRules`, many(`{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}`, 21), `[{"action":"Restart","exitCodes":{"operator":"Inn","values":[]}}]`), set(`initContainers.0.restartPolicy`, `"Always"`, `"OnFailure"`, `""`, `"x"`), set(`restartPolicy`, `"Never"`, `"OnFailure"`), set(`containers.0.resizePolicy`, `[{"resourceName":"cpu","restartPolicy":"RestartContainer"},{"resourceName":"cpu","restartPolicy":"x"},{"resourceName":"y","restartPolicy":"NotRequired"}]`),
		set(`initContainers.0.resizePolicy`, `[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`),
	),
	some( // seccomp twice
		annotate(`seccomp.security.alpha.kubernetes.io/pod`, seccompProfiles...), annotate(`container.seccomp.security.alpha.kubernetes.io/app`, seccompProfiles...), annotate(`container.seccomp.security.alpha.kubernetes.io/init`, seccompProfiles...),
		set(`securityContext.seccompProfile`, `{"type":"RuntimeDefault"}`, `{"type":"Unconfined"}`, `{"type":"Localhost","localhostProfile":"p"}`, `{"type":"Localhost","localhostProfile":"q"}`, `{"type":"Localhost"}`, `{"type":"x"}`), set(`containers.0.securityContext.seccompProfile`, `{"type":"RuntimeDefault"}`, `{"type":"Unconfined"}`, `{"type":"Localhost","localhostProfile":"p"}`), set(`initContainers.0.securityContext.seccompProfile`, `{"type":"Localhost","localhostProfile":"q"}`, `{"type":""}`),
	),
	some( // AppArmor twice
		annotate(`container.apparmor.security.beta.kubernetes.io/app`, annotationValues["container.apparmor.security.beta.kubernetes.io"]...), annotate(`container.apparmor.security.beta.kubernetes.io/init`, "runtime/default", "localhost/p"), annotate(`container.apparmor.security.beta.kubernetes.io/debug`, "unconfined"),
		set(`securityContext.appArmorProfile`, `{"type":"RuntimeDefault"}`, `{"type":"Unconfined"}`, `{"type":"Localhost","localhostProfile":"p"}`, `{"type":"Localhost"}`), set(`containers.0.securityContext.appArmorProfile`, `{"type":"RuntimeDefault"}`, `{"type":"Localhost","localhostProfile":"q"}`, `{"type":"Localhost","localhostProfile":"p"}`, `{"type":"Unconfined","localhostProfile":"p"}`), set(`os`, `{"name":"windows"}`, `{"name":"linux"}`),
		set(`ephemeralContainers`, `[{"name":"debug","image":"b"}]`),
	),
	some( // sidecars and what init containers may not have
		set(`initContainers.0.restartPolicy`, `"Always"`), set(`initContainers.0.lifecycle`, `{"preStop":{"exec":{"command":["x"]}}}`, `{}`, `{"preStop":{}}`, `{"stopSignal":"SIGTERM"}`), set(`initContainers.0.livenessProbe`, `{"httpGet":{"port":80}}`, `{}`, `{"exec":{},"tcpSocket":{"port":"a--b"},"successThreshold":2}`),
		set(`initContainers.0.readinessProbe`, `{"grpc":{"port":0}}`, `{"tcpSocket":{"port":80},"terminationGracePeriodSeconds":1}`), set(`initContainers.0.startupProbe`, `{"exec":{"command":["a"]},"successThreshold":0,"terminationGracePeriodSeconds":0}`), set(`initContainers.0.name`, `"app"`, `""`, `"A"`), set(`initContainers.1.name`, `"init"`, `"app"`),
	),
	some( // ephemeral containers
		set(`ephemeralContainers`, `[{"name":"debug","image":"b","targetContainerName":"app"},{"name":"debug","image":" b "},{"name":"app"}]`, `[{"name":"d","image":"b","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}},"livenessProbe":{"exec":{"command":["a"]}},"readinessProbe":{"exec":{"command":["a"]}},"startupProbe":{"exec":{"command":["a"]}},"lifecycle":{"preStop":{"sleep":{"seconds":1}}},"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}],"restartPolicy":"Always","restartPolicyRules":[{"action":"Restart"}],"targetContainerName":"ghost"}]`,
			`[{"name":"d","image":"b","volumeMounts":[{"name":"data","mountPath":"/a","subPath":"b"},{"name":"data","mountPath":"/b","subPathExpr":"c"}],"volumeDevices":[{"name":"data","devicePath":"/c"}],"env":[{"name":"A=B"}],"securityContext":{"privileged":true}}]`, `[{}]`, `[]`),
		set(`containers`, `[]`, `null`), set(`restartPolicy`, `"Never"`),
	),
	some( // mounts and volumes
		set(`volumes`, `[{"name":"data","persistentVolumeClaim":{"claimName":"c"}},{"name":"data"},{"name":"cfg","configMap":{}}]`, `[{"name":"data","emptyDir":{"sizeLimit":"-1","medium":"x"}},{"name":"cfg","image":{"reference":"x"}}]`, `[{"name":"data","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]`),
		set(`containers.0.volumeMounts`, `[{"name":"data","mountPath":"/data"},{"name":"cfg","mountPath":"/data"},{"name":"ghost","mountPath":""}]`, `[{"name":"data","mountPath":"/a","subPath":"x","subPathExpr":"$(A)"},{"name":"data","mountPath":"/b","mountPropagation":"Bidirectional"},{"name":"data","mountPath":"/c","recursiveReadOnly":"Enabled"},{"name":"data","mountPath":"/d","readOnly":true,"recursiveReadOnly":"IfPossible","mountPropagation":"HostToContainer"}]`, `[{"name":"data","mountPath":"/dev/x"},{"name":"","mountPath":"/dev/y"}]`),
		set(`containers.0.volumeDevices`, `[{"name":"data","devicePath":"/dev/x"},{"name":"data","devicePath":"/dev/x"},{"name":"","devicePath":""}]`, `[{"name":"cfg","devicePath":"/data"}]`, `[{"name":"ghost","devicePath":"/a/../b"}]`), set(`containers.0.securityContext.privileged`, `true`, `false`),
		set(`containers.0.env`, `[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"cfg","path":"a","key":"K"}}},{"name":"B","valueFrom":{"fileKeyRef":{"volumeName":"ghost","path":"../a","key":""}}}]`),
	),
	some( // one path twice
		set(`volumes`, volume(`"projected":{"sources":[{"secret":{"name":"s","items":[{"key":"k","path":"a"},{"key":"k","path":"a"}]}},{"configMap":{"name":"c","items":[{"key":"k","path":"a"},{"key":"k","path":"a/b"}]}},{"downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":"metadata.name"}},{"path":"a/b/c","fieldRef":{"fieldPath":"metadata.name"}}]}}]}`),
			volume(`"projected":{"sources":[{"serviceAccountToken":{"path":"a"}},{"clusterTrustBundle":{"name":"b","path":"a"}},{"podCertificate":{"signerName":"a.b/c","keyType":"RSA3072","keyPath":"a","certificateChainPath":"a/b","credentialBundlePath":"a"}},{"clusterTrustBundle":{"signerName":"a.b/c","path":"a/x"}}]}`), volume(`"projected":{"sources":[{},{"secret":{},"configMap":{}},{"serviceAccountToken":{"path":""},"downwardAPI":{}}]}`), volume(`"projected":{"sources":[]}`), volume(`"projected":{}`),
			volume(`"configMap":{"name":"c","items":[{"key":"k","path":"a"},{"key":"k2","path":"a"},{"key":"k3","path":"a/b"}]}`), volume(`"secret":{"secretName":"c","items":[{"key":"k","path":"a//b"},{"key":"k2","path":"a/b"},{"key":"k3","path":"a"}]}`), volume(`"downwardAPI":{"items":[{"path":"a/b","fieldRef":{"fieldPath":"metadata.name"}},{"path":"a","resourceFieldRef":{"containerName":"app","resource":"limits.cpu"}},{"path":"a/","fieldRef":{"fieldPath":"metadata.labels"}}]}`)),
	),
	some( // ports that get in each other's way
		set(`containers.0.ports`, `[{"name":"http","containerPort":80},{"name":"http","containerPort":80,"protocol":"UDP"},{"containerPort":80}]`, `[{"containerPort":80,"hostPort":80},{"containerPort":80,"hostPort":80,"hostIP":"1.1.1.1"}]`, `[{"containerPort":80,"hostPort":80,"hostIP":"1.1.1.1"},{"containerPort":80,"hostPort":80,"hostIP":"1.1.1.2"},{"containerPort":80,"hostIP":"1.1.1.1"}]`, `[{"containerPort":80},{"containerPort":80},{"containerPort":80,"hostPort":81}]`),
		set(`containers.1.ports`, `[{"name":"http","containerPort":80}]`, `[{"name":"http","containerPort":81,"hostPort":80}]`, `[{"containerPort":80,"hostPort":80}]`), set(`initContainers.0.ports`, `[{"name":"http","containerPort":80}]`, `[{"containerPort":80,"hostPort":80}]`),
		set(`containers.0.env`, `[{"name":"A","value":"1"},{"name":"A","value":"$(A)"},{"name":"A","value":"$(A)x"},{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]`),
	),
	some( // claim templates
		set(`volumes`, volume(`"ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"x","finalizers":["a"],"labels":{"a":"b c"},"uid":"1","generation":1,"ownerReferences":[{}],"managedFields":[{}],"creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":1,"selfLink":"x","resourceVersion":"1","generateName":"x","namespace":"x"},"spec":{"accessModes":["ReadWriteOncePod","ReadOnlyMany","x"],"resources":{"requests":{"storage":"0"}}}}}`),
			volume(`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"b"}}}}`), volume(`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1500m"},"limits":{"storage":"1n"}},"dataSource":{"kind":"x","name":""},"dataSourceRef":{"kind":"y","name":"b","namespace":"n","apiGroup":"A"}}}}`), volume(`"ephemeral":{}`),
			volume(`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"dataSource":{"kind":"A","apiGroup":"g.h","name":"a"},"dataSourceRef":{"kind":"A","apiGroup":"g.h","name":"a","namespace":""}}}}`)),
	),
	some( // metadata
		meta(`ownerReferences`, `[{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true},{"apiVersion":"v1","kind":"B","name":"b","uid":"2","controller":true}]`, `[{"apiVersion":"v1","kind":"A","name":"a","uid":"1"},{"apiVersion":"v1","kind":"A","name":"a","uid":"1"},{"apiVersion":"v1","kind":"A","name":"a","uid":"2"},{"apiVersion":"v1","kind":"A","name":"a","uid":"2"}]`, `[{"apiVersion":"v1","kind":"Event","name":"e","uid":"1"}]`, `[{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true},{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true},{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":false}]`),
		meta(`finalizers`, `["orphan","foregroundDeletion"]`, `["a/b","plain"]`, `["a/b","a/b"]`), meta(`managedFields`, `[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]`, `[{}]`, `[{"operation":"X","fieldsType":"Y","manager":"a\u0007b"}]`, `[{"operation":"Apply","fieldsV1":null}]`, `[{"operation":"Apply","fieldsV1":[]}]`, `[{"operation":"Apply","fieldsV1":"x","time":"x"}]`),
		meta(`generateName`, `"web-"`, `"a.b-"`, `"A-"`, `"`+strings.Repeat("g", 300)+`"`, `"-"`, `"a--"`), meta(`name`, `""`, `"a.b"`, `"`+strings.Repeat("n", 254)+`"`, `"`+strings.Repeat("n", 64)+`"`), meta(`annotations`, `{"deprecated.deployment.rollback.to":"-1"}`, `{"deprecated.deployment.rollback.to":"5"}`, `{"deprecated.deployment.rollback.to":""}`, `{"deprecated.deployment.rollback.to":"x"}`),
	),
	func(c chance, o *jsontree.Object) { // annotations beyond the limit, here or in the template
		m := pick(c, []*jsontree.Object{o.Child("metadata"), o.Child("spec").Child("template").Child("metadata")})
		if c.often(0.02) {
			m.Child("annotations").Set("big", jsontree.Text(strings.Repeat("x", 262141+c.IntN(4)-len("web"))))
		}
		if c.often(0.1) {
			set(`securityContext.windowsOptions.gmsaCredentialSpec`, `"`+strings.Repeat("g", 65536)+`"`, `"`+strings.Repeat("g", 65537)+`"`)(c, o)
		}
	},
	some( // selectors
		func(c chance, o *jsontree.Object) {
			o.Child("spec").Set("selector", jsontree.MustParse(pick(c, selectors)))
		},
		func(c chance, o *jsontree.Object) {
			o.Child("spec").Child("template").Child("metadata").Set("labels", jsontree.MustParse(pick(c, []string{`{"app":"web2"}`, `null`, `{}`, `{"a":"b c"}`, `{"app":"web","tier":"x"}`, `{"<":"&"}`})))
		},
	),
	some( // strategies
		func(c chance, o *jsontree.Object) {
			o.Child("spec").Set("strategy", jsontree.MustParse(pick(c, strategies)))
		},
		func(c chance, o *jsontree.Object) {
			o.Child("spec").Set(pick(c, []string{"minReadySeconds", "progressDeadlineSeconds", "revisionHistoryLimit", "replicas"}), jsontree.Raw(pick(c, []string{"600", "0", "-1", "1", "2147483647", "601", "-2147483648"})))
		},
	),
	some( // spreading and affinity
		set(`topologySpreadConstraints`, `[{"maxSkew":0,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"},{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","minDomains":0},{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","minDomains":1}]`, spread(`"matchLabelKeys":["app","a"],"labelSelector":{"matchLabels":{"app":"x"},"matchExpressions":[{"key":"app","operator":"Exists"},{"key":"a","operator":"Exists"}]}`), spread(`"matchLabelKeys":["app"]`), spread(`"matchLabelKeys":["app","app"],"labelSelector":{}`)),
		set(`affinity.podAffinity`, `{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","matchLabelKeys":["app"],"mismatchLabelKeys":["app"],"labelSelector":{"matchLabels":{"app":"x"},"matchExpressions":[{"key":"app","operator":"In","values":["x"]}]}}]}`, `{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"","matchLabelKeys":["app"],"mismatchLabelKeys":["x"],"namespaces":["A"]}},{"weight":0,"podAffinityTerm":{}}]}`),
		set(`affinity.nodeAffinity`, `{"requiredDuringSchedulingIgnoredDuringExecution":{}}`, `{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{},{"matchFields":[{"key":"metadata.name","operator":"In","values":["A"]},{"key":"x","operator":"Exists","values":[]},{"key":"metadata.name","operator":"NotIn","values":["a","b"]}]},{"matchExpressions":[{"key":"a","operator":"Gt","values":["1","2"]},{"key":"a","operator":"Lt","values":["x"]},{"key":"beta.kubernetes.io/os","operator":"Exists"}]}]}}`),
		set(`nodeSelector`, `{"beta.kubernetes.io/arch":"amd64","a b":"c d"}`, `{"kubernetes.io/os":"linux"}`), set(`schedulingGates`, `[{"name":"a"},{"name":"a"}]`), set(`nodeName`, `"n"`, `"N"`), set(`priorityClassName`, `"system-node-critical"`, `"A"`),
	),
	some( // fields of gates that are off
		set(`schedulingGroup`, `{"podGroupName":"g"}`, `{}`, `{"podGroupName":"A"}`), set(`evictionResponders`, `[{"name":"a.b/c","priority":1000}]`, `[]`, `null`), set(`volumes`, volume(`"emptyDir":{"mode":511}`), volume(`"secret":{"secretName":"s","defaultUser":-1,"items":[{"key":"k","path":"p","user":5}]}`), volume(`"projected":{"defaultUser":1,"sources":[{"serviceAccountToken":{"path":"x","user":-1}}]}`)), set(`containers.0.volumeMounts`, `[{"name":"data","mountPath":"/data","bindMountOptions":["x"]}]`),
		set(`containers.0.lifecycle`, `{"stopSignal":"x"}`, `{"stopSignal":"SIGTERM","preStop":{"httpGet":{"port":80,"protocol":"x"}}}`, `{}`), set(`containers.0.startupProbe`, `{"httpGet":{"port":80,"protocol":"x"}}`, `{"grpc":{"port":80,"mode":"x"}}`), annotate("pod.beta.kubernetes.io/init-containers", "x"), annotate("pod.alpha.kubernetes.io/init-container-statuses", ""),
	),
}

// meta gives a step that sets a field of the Deployment's own metadata.
func meta(key string, values ...string) func(chance, *jsontree.Object) {
	return func(c chance, o *jsontree.Object) { o.Child("metadata").Set(key, jsontree.MustParse(pick(c, values))) }
}

var selectors = []string{
	`null`, `{}`, `{"matchLabels":{}}`, `{"matchExpressions":[]}`, `{"matchLabels":{"app":"a b"}}`, `{"matchLabels":{"a b":"app"}}`, `{"matchExpressions":[{"key":"app","operator":"Equals","values":["web"]}]}`, `{"matchExpressions":[{"key":"app","operator":"In"}]}`, `{"matchExpressions":[{"key":"app","operator":"Exists","values":["x"]}]}`,
	`{"matchExpressions":[{"key":"app","operator":"In","values":["web","x"]}]}`, `{"matchExpressions":[{"key":"app","operator":"NotIn","values":["x"]}]}`, `{"matchExpressions":[{"key":"tier","operator":"DoesNotExist"}]}`, `{"matchExpressions":[{"key":"tier","operator":"Exists"}]}`, `{"matchLabels":{"app":"web","tier":"x"}}`, `{"matchExpressions":[{"key":"app","operator":"NotIn","values":["web"]}]}`,
	`{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"In","values":["a b"]}]}`, `{"matchExpressions":[{}]}`, `{"matchExpressions":[{"key":"app","operator":"","values":["<&>"]}]}`, `{"matchLabels":{"app":""}}`, `{"matchExpressions":[{"key":"tier","operator":"NotIn","values":["x"]}]}`, `{"matchExpressions":[{"key":"app","operator":"In","values":["web","web"]}]}`, `{"matchLabels":{"z":"1","a":"2 3"}}`,
}

var strategies = []string{
	`{"type":"Recreate"}`, `{"type":"Recreate","rollingUpdate":{}}`, `{"type":"Recreate","rollingUpdate":{"maxSurge":1}}`, `{"type":"Recreate","rollingUpdate":null}`, `{"type":"rollingUpdate"}`, `{"type":"x","rollingUpdate":{"maxUnavailable":1,"maxSurge":"25%"}}`, `{"type":"x","rollingUpdate":{}}`, `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}}`, `{"rollingUpdate":{"maxSurge":"0%","maxUnavailable":"0%"}}`, `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"abc"}}`,
	`{"rollingUpdate":{"maxSurge":0}}`, `{"rollingUpdate":{"maxUnavailable":"150%"}}`, `{"rollingUpdate":{"maxSurge":"150%","maxUnavailable":-1}}`, `{"rollingUpdate":{"maxSurge":"25"}}`, `{"rollingUpdate":{"maxUnavailable":"99999999999999999999%"}}`, `{"rollingUpdate":{"maxSurge":"99999999999999999999%","maxUnavailable":0}}`, `{"rollingUpdate":{"maxSurge":"00%","maxUnavailable":0}}`, `{"rollingUpdate":{"maxSurge":"","maxUnavailable":""}}`, `{"type":"","rollingUpdate":{"maxSurge":null}}`, `{"type":"<x>"}`,
	`{"rollingUpdate":{"maxSurge":"-1%","maxUnavailable":"0"}}`, `{"rollingUpdate":{"maxSurge":"0x0","maxUnavailable":"+0"}}`, `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"5"}}`, `{"rollingUpdate":{"maxSurge":"9223372036854775807%","maxUnavailable":"9223372036854775808%"}}`,
}
