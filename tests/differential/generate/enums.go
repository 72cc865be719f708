package generate

// enums are the values of named string types, by type name. Spoiling makes the wrong ones.
var enums = map[string][]string{
	"NodeSelectorOperator": {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}, "LabelSelectorOperator": {"In", "NotIn", "Exists", "DoesNotExist"}, "TolerationOperator": {"Exists", "Equal", "", "Lt", "Gt"},
	"HTTPProtocol": {"HTTP1", "HTTP2"}, "GRPCProbeMode": {"Plaintext", "TLS"}, "ManagedFieldsOperationType": {"Apply", "Update"}, "ConditionStatus": {"True", "False", "Unknown"}, "TerminationMessagePolicy": {"File", "FallbackToLogsOnError"},
	"SupplementalGroupsPolicy": {"Merge", "Strict"}, "PodSELinuxChangePolicy": {"MountOption", "Recursive"}, "PodConditionType": {"example.com/ready", "Ready", "a b"}, "AzureDataDiskKind": {"Shared", "Dedicated", "Managed"}, "AzureDataDiskCachingMode": {"None", "ReadOnly", "ReadWrite"},
	"NodeInclusionPolicy": {"Honor", "Ignore"}, "TaintEffect": {"NoSchedule", "PreferNoSchedule", "NoExecute", ""}, "ContainerRestartRuleOnExitCodesOperator": {"In", "NotIn"}, "RestartPolicy": {"Always", "Always", "Always", "OnFailure", "Never"},
	"DeploymentStrategyType": {"RollingUpdate", "Recreate", ""}, "ContainerRestartPolicy": {"Always", "Never", "OnFailure"}, "ProcMountType": {"Default", "Unmasked"}, "PreemptionPolicy": {"PreemptLowerPriority", "Never"}, "DeploymentConditionType": {"Available", "Progressing", "X"},
	"ResourceResizeRestartPolicy": {"NotRequired", "RestartContainer"}, "StorageMedium": {"", "Memory", "HugePages", "HugePages-2Mi", "x"}, "Capability": {"NET_ADMIN", "SYS_ADMIN", "CAP_SYS_ADMIN", "ALL", "KILL"}, "SeccompProfileType": {"RuntimeDefault", "Localhost", "Unconfined"},
	"HostPathType": {"", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket", "CharDevice", "BlockDevice"}, "DNSPolicy": {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}, "URIScheme": {"HTTP", "HTTPS"}, "PullPolicy": {"Always", "IfNotPresent", "Never"},
	"PersistentVolumeAccessMode": {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}, "PodFSGroupChangePolicy": {"Always", "OnRootMismatch"}, "Signal": {"SIGTERM", "SIGKILL", "SIGUSR1"}, "RecursiveReadOnlyMode": {"Disabled", "Enabled", "IfPossible"},
	"PersistentVolumeMode": {"Filesystem", "Block"}, "ResourceName": {"cpu", "memory", "ephemeral-storage"}, "Protocol": {"TCP", "UDP", "SCTP"}, "AppArmorProfileType": {"RuntimeDefault", "Localhost", "Unconfined"}, "UnsatisfiableConstraintAction": {"DoNotSchedule", "ScheduleAnyway"},
	"MountPropagationMode": {"None", "HostToContainer", "Bidirectional"}, "ContainerRestartRuleAction": {"Restart", "RestartAllContainers"}, "OSName": {"linux", "windows"}, "UID": {"1", "2", "11111111-1111-1111-1111-111111111111"},
}

// numbers are good values of integer fields, by `Struct.key`; others get a small positive one.
var numbers = map[string][]int64{
	"DeploymentSpec.replicas": {0, 1, 3}, "DeploymentSpec.progressDeadlineSeconds": {600, 601, 60, 2147483647}, "DeploymentSpec.minReadySeconds": {0, 1, 599, 600}, "DeploymentSpec.revisionHistoryLimit": {0, 10},
	"ContainerPort.containerPort": {80, 443, 8080, 65535}, "ContainerPort.hostPort": {80, 443, 8080, 0}, "GRPCAction.port": {80, 65535}, "ISCSIVolumeSource.lun": {0, 255, 256}, "FCVolumeSource.lun": {0, 255, 256},
	"GCEPersistentDiskVolumeSource.partition": {0, 255, 256}, "AWSElasticBlockStoreVolumeSource.partition": {0, 255, 256}, "KeyToPath.mode": modes, "DownwardAPIVolumeFile.mode": modes, "SecretVolumeSource.defaultMode": modes, "ConfigMapVolumeSource.defaultMode": modes,
	"DownwardAPIVolumeSource.defaultMode": modes, "ProjectedVolumeSource.defaultMode": modes, "EmptyDirVolumeSource.mode": {511, 1023, 1024}, "ServiceAccountTokenProjection.expirationSeconds": {600, 3600, 599, 4294967296, 4294967297}, "PodCertificateProjection.maxExpirationSeconds": {3600, 86400, 86401, 3599, 7862400, 7862401},
	"Probe.successThreshold": {1, 1, 1, 0, 2}, "Probe.terminationGracePeriodSeconds": {1, 30, 0}, "PreferredSchedulingTerm.weight": {1, 100, 101, 0}, "WeightedPodAffinityTerm.weight": {1, 100, 101, 0}, "SleepAction.seconds": {0, 5, 30, 31}, "PodSpec.terminationGracePeriodSeconds": {0, 5, 30, -1},
	"EvictionResponder.priority": {1000, 999, 100000, 100001}, "SecurityContext.runAsUser": ids, "SecurityContext.runAsGroup": ids, "PodSecurityContext.runAsUser": ids, "PodSecurityContext.runAsGroup": ids, "PodSecurityContext.fsGroup": ids, "PodSecurityContext.supplementalGroups": ids,
	"ContainerRestartRuleOnExitCodes.values": {0, 1, 255, 256}, "TopologySpreadConstraint.minDomains": {1, 2}, "Toleration.tolerationSeconds": {0, 60, -1}, "PodSpec.activeDeadlineSeconds": {1, 60, 2147483647, 2147483648},
}

var (
	modes = []int64{0, 420, 511, 256}
	ids   = []int64{0, 1000, 2147483647}
	edges = []string{
		"-1", "0", "1", "2", "7", "10", "30", "59", "100", "101", "255", "256", "511", "512", "1023", "1024", "65535", "65536", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967296", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "1.0", "1.5", "-0", "-0.0", "0.0", "1e2", "1E2", "1e-2", "1e400", "0e0", "123456789012345678901234567890", "0.1", "5e-1", "1e18", "-1.5e3",
	}
)

// oneOf names the structs of which a useful object sets exactly one key of a group.
var oneOf = map[string]bool{
	"VolumeSource": true, "ProbeHandler": true, "LifecycleHandler": true, "EnvVarSource": true, "VolumeProjection": true,
}

// pairs are two keys of which a useful object sets exactly one.
var pairs = map[string][2]string{
	"DownwardAPIVolumeFile": {"fieldRef", "resourceFieldRef"}, "EnvVar": {"value", "valueFrom"}, "EnvFromSource": {"configMapRef", "secretRef"}, "FlockerVolumeSource": {"datasetName", "datasetUUID"},
	"ClusterTrustBundleProjection": {"name", "signerName"}, "PodResourceClaim": {"resourceClaimName", "resourceClaimTemplateName"}, "FCVolumeSource": {"targetWWNs", "wwids"}, "LabelSelector": {"matchLabels", "matchExpressions"},
	"NodeSelectorTerm": {"matchExpressions", "matchFields"},
}
