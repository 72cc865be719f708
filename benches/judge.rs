//! How many verdicts a second one core gives from memory: `cargo bench --bench judge`.
//!
//! Each verdict is the whole way from bytes: reading, strict decoding, defaulting, validation, warnings.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use rollgate::check::manifest::{FieldValidation, Part, Settings, check};
use rollgate::schema::json;
use rollgate::verdict::{Operation, Question, Server, Target, judge};

/// How long each measurement takes.
const LONG: Duration = Duration::from_secs(2);

/// A small Deployment as `kubectl create deployment` would write it.
const SMALL: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web"}},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx:1.27","ports":[{"containerPort":80}]}]}}}}"#;

/// One as teams run it: probes, resources, security, environment, volumes, spreading.
const LARGE: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop","labels":{"app.kubernetes.io/name":"shop","app.kubernetes.io/part-of":"store"},"annotations":{"example.com/owner":"team-a"}},"spec":{"replicas":6,"revisionHistoryLimit":3,"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":0}},"selector":{"matchLabels":{"app.kubernetes.io/name":"shop"}},"template":{"metadata":{"labels":{"app.kubernetes.io/name":"shop","app.kubernetes.io/part-of":"store"}},"spec":{"serviceAccountName":"shop","securityContext":{"runAsNonRoot":true,"runAsUser":1000,"fsGroup":1000,"seccompProfile":{"type":"RuntimeDefault"}},"initContainers":[{"name":"migrate","image":"registry.example.com/shop/migrate:v42","command":["/migrate"],"envFrom":[{"secretRef":{"name":"shop-db"}}]}],"containers":[{"name":"shop","image":"registry.example.com/shop/app:v42","args":["--listen=:8080","--log=json"],"ports":[{"name":"http","containerPort":8080},{"name":"metrics","containerPort":9090}],"env":[{"name":"POD_IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},{"name":"MODE","value":"production"},{"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"shop-token","key":"token"}}}],"resources":{"requests":{"cpu":"250m","memory":"256Mi"},"limits":{"cpu":"1","memory":"512Mi"}},"livenessProbe":{"httpGet":{"path":"/livez","port":"http"},"initialDelaySeconds":5},"readinessProbe":{"httpGet":{"path":"/readyz","port":"http"},"periodSeconds":5},"startupProbe":{"httpGet":{"path":"/livez","port":"http"},"failureThreshold":30},"lifecycle":{"preStop":{"exec":{"command":["sleep","5"]}}},"securityContext":{"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,"capabilities":{"drop":["ALL"]}},"volumeMounts":[{"name":"config","mountPath":"/etc/shop","readOnly":true},{"name":"tmp","mountPath":"/tmp"}]},{"name":"proxy","image":"registry.example.com/proxy:2.1","ports":[{"name":"admin","containerPort":15000}],"resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"memory":"128Mi"}}}],"volumes":[{"name":"config","configMap":{"name":"shop-config","items":[{"key":"app.yaml","path":"app.yaml"}]}},{"name":"tmp","emptyDir":{"sizeLimit":"64Mi"}}],"tolerations":[{"key":"dedicated","operator":"Equal","value":"shop","effect":"NoSchedule"}],"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app.kubernetes.io/name":"shop"}}}}]}},"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app.kubernetes.io/name":"shop"}}}]}}}}"#;

/// The small one in YAML, as `rollgate check` reads it.
const YAML: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n    app: web\nspec:\n  replicas: 3\n  selector:\n    matchLabels:\n      app: web\n  template:\n    metadata:\n      labels:\n        app: web\n    spec:\n      containers:\n      - name: web\n        image: nginx:1.27\n        ports:\n        - containerPort: 80\n";

fn verdict(server: &Server, text: &str) {
    let object = json::read(text.as_bytes()).unwrap();
    let (operation, target) = (Operation::Create, Target::Deployment);
    let asked = Question { operation, target, namespace: "default", object: &object, old: None };
    let verdict = judge(server, &asked);
    assert!(verdict.allowed(), "the manifest is a good one");
    black_box(verdict);
}

/// Runs something for a while and says how often a second it could be done.
fn measure(what: &str, mut run: impl FnMut()) {
    for _ in 0..1000 {
        run();
    }
    let (start, mut times) = (Instant::now(), 0_u32);
    while start.elapsed() < LONG {
        for _ in 0..100 {
            run();
        }
        times += 100;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what:<34} {:>9.0} a second, {:>7.2} us each",
        f64::from(times) / seconds,
        seconds * 1e6 / f64::from(times)
    );
}

fn main() {
    let server = Server::new(true);
    measure("verdict, small Deployment", || verdict(&server, SMALL));
    measure("verdict, large Deployment", || verdict(&server, LARGE));
    let settings = Settings { server, namespace: None, field_validation: FieldValidation::Strict, old: None };
    measure("check, small Deployment in YAML", || {
        black_box(check(YAML, Part::Whole, 1, &settings));
    });
}
