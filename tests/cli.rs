//! `rollgate check` and `rollgate default` from the outside: reported cases, exit codes, outputs.
//!
//! `data/cases/*.yaml` each hold a manifest and the values to put in place of `VALUE`, with what the
//! API server v1.37.2 was seen to say.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is a failure")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rollgate::check::yaml;
use rollgate::schema::source::Node;
use serde_json::Value;

fn rollgate(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rollgate"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A run that fails early does not read all.
    let _ = feeder.join();
    output
}

/// The report of a check of standard input, as JSON, and the exit code.
fn check(input: &[u8], more: &[&str]) -> (Value, i32) {
    let args: Vec<&str> = [&["check", "-", "--output", "json"], more].concat();
    let output = rollgate(&args, input);
    let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (report, output.status.code().unwrap())
}

/// Each finding of a report as `level path: message`.
fn findings(report: &Value) -> Vec<String> {
    let results = report["results"].as_array().unwrap().iter();
    let findings = results.flat_map(|r| r["findings"].as_array().unwrap());
    let text = |f: &Value, key| f[key].as_str().unwrap().to_owned();
    findings
        .map(|f| match text(f, "path") {
            path if path.is_empty() => text(f, "message"),
            path => format!("{path}: {}", text(f, "message")),
        })
        .collect()
}

fn matches(found: &[String], expected: &Node<'_>) -> bool {
    let expected = expected.items();
    found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.contains(e.as_str().unwrap()))
}

/// What is wrong with the answer for one row of a case.
fn fault_of_row(manifest: &str, row: &Node<'_>) -> Option<String> {
    let (report, code) = check(manifest.as_bytes(), &[]);
    let found = findings(&report);
    let (expected, expected_code) = match () {
        () if row.get("refused").is_some() => (row.get("refused"), 1),
        () if row.get("unusable").is_some() => (row.get("unusable"), 2),
        () => (row.get("warned"), 0),
    };
    let fine = match expected {
        Some(expected) => matches(&found, expected),
        None => found.is_empty(),
    };
    if !fine || code != expected_code {
        return Some(format!("exit {code}, {found:#?}"));
    }
    let wanted = row.get("filled")?.as_str().unwrap();
    let filled = rollgate(&["default", "-", "--output", "json"], manifest.as_bytes());
    let filled = String::from_utf8(filled.stdout).unwrap();
    (!filled.contains(wanted)).then(|| format!("not filled in with {wanted}: {filled}"))
}

#[test]
fn every_reported_case_is_judged_as_the_server_judged_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 10);
    let mut faults = Vec::new();
    for path in cases {
        let text = std::fs::read_to_string(&path).unwrap();
        let case = yaml::read(&text).unwrap().root.unwrap();
        let manifest = case.get("manifest").unwrap().as_str().unwrap();
        let rows = case.get("rows").unwrap().items();
        assert!(!rows.is_empty(), "{}", path.display());
        for row in rows {
            let value = row.get("value").unwrap().as_str().unwrap();
            if let Some(fault) = fault_of_row(&manifest.replace("VALUE", value), row) {
                faults.push(format!("{} with {value:?}: {fault}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn deployment(name: &str, label: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  \
         selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {label}}}}}\n    \
         spec:\n      containers:\n      - {{name: web, image: \"registry.test/web:1.4\"}}\n"
    )
}

/// Case 1 (kubernetes/kubernetes#103185).
#[test]
fn a_comment_after_a_separator_hides_no_document() {
    let [one, two, three] = [deployment("one", "one"), deployment("two", "two"), deployment("three", "nope")];
    let (report, code) = check(format!("{one}--- # second tier\n{two}---   \n{three}").as_bytes(), &[]);
    assert_eq!((code, report["summary"]["accepted"].as_u64()), (1, Some(2)));
    assert_eq!(report["results"][2]["name"], "three");
    assert!(
        findings(&report)[0].starts_with("spec.template.metadata.labels: Invalid value: {\"app\":\"nope\"}")
    );

    let (report, code) = check(format!("{one}--- second tier\n{two}").as_bytes(), &[]);
    assert_eq!(code, 2);
    assert_eq!(findings(&report), ["invalid Yaml document separator: second tier"]);
    assert_eq!(report["summary"]["accepted"], 2);
}

/// Case 3 (helm/helm#6081, kubernetes/kubernetes#39007).
#[test]
fn byte_order_marks_and_utf16_are_read() {
    let text = format!("{}---\n{}", deployment("bom-one", "bom-one"), deployment("bom-two", "bom-two"));
    let second = text.replace("---\n", "---\n\u{feff}");
    let utf16 = |to: fn(u16) -> [u8; 2]| {
        let units = format!("\u{feff}{text}");
        units.encode_utf16().flat_map(to).collect::<Vec<u8>>()
    };
    let files = [
        format!("\u{feff}{text}").into_bytes(),
        second.into_bytes(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
    ];
    for file in files {
        let (report, code) = check(&file, &[]);
        assert_eq!((code, report["summary"]["accepted"].as_u64()), (0, Some(2)), "{report}");
    }
}

/// Case 8, the last part.
#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..10 {
        let list = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{list}]\n"));
    }
    let (report, code) = check(bomb.as_bytes(), &[]);
    assert_eq!(code, 2);
    assert_eq!(findings(&report), ["document contains excessive aliasing"]);
}

#[test]
fn nesting_too_deep_is_refused_and_ends_no_process() {
    for depth in [150, 9_990, 20_000, 200_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("- ", "")] {
            let inner = if open == "{\"a\":" { "1" } else { "" };
            let text = format!("{}{inner}{}\n", open.repeat(depth), close.repeat(depth));
            let (_, code) = check(text.as_bytes(), &[]);
            assert_eq!(code, 2, "{depth} times {open:?}");
        }
    }
}

/// Case 20 (kubernetes/kubectl#712, kubernetes/kubernetes#85840).
#[test]
fn annotations_may_have_256_kib_to_the_byte() {
    const OWN: &str = "metadata: {name: ann";
    const TEMPLATE: &str = "metadata: {labels: {app: ann}";
    const LEFT_BYTES: usize = 256 * 1024 - "note".len();
    let with = |place: &str, value: &str| {
        let annotated = format!("{place}, annotations: {{note: \"{value}\"}}");
        check(deployment("ann", "ann").replace(place, &annotated).as_bytes(), &[])
    };
    let letters = "z".repeat(LEFT_BYTES);
    let of_two_bytes = "é".repeat(LEFT_BYTES / 2);
    for place in [OWN, TEMPLATE] {
        assert_eq!(with(place, &letters).1, 0);
        assert_eq!(with(place, &of_two_bytes).1, 0);
    }
    let too_long = "Too long: may not be more than 262144 bytes";
    for (place, path) in [(OWN, "metadata.annotations"), (TEMPLATE, "spec.template.annotations")] {
        for value in [&letters, &of_two_bytes] {
            let (report, code) = with(place, &format!("{value}z"));
            assert_eq!((code, findings(&report)), (1, vec![format!("{path}: {too_long}")]));
        }
    }
}

#[test]
fn old_objects_make_updates() {
    let folder = std::env::temp_dir().join(format!("rollgate-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let old = folder.join("old.yaml");
    std::fs::write(&old, deployment("web", "web")).unwrap();
    let old = old.to_str().unwrap();
    let new = deployment("web", "other").replace("{app: web}}", "{app: other}}");
    let (report, code) = check(new.as_bytes(), &["--old", old]);
    assert_eq!(code, 1);
    assert!(findings(&report)[0].contains("field is immutable"), "{report}");
    // One of another name is new.
    assert_eq!(check(deployment("x", "x").as_bytes(), &["--old", old]).1, 0);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn lists_are_taken_apart_and_other_kinds_left_alone() {
    let item = "{metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, \
                spec: {containers: [{name: a, image: b}]}}}}";
    let list = format!("apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- {item}\n");
    let (report, code) = check(list.as_bytes(), &[]);
    assert_eq!(code, 1);
    assert!(findings(&report)[0].starts_with("spec.template.metadata.labels"), "{report}");
    assert_eq!(report["results"][0]["findings"][0]["line"], 4);
    let service = b"apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
    let (report, code) = check(service, &[]);
    assert_eq!((code, report["summary"]["leftAlone"].as_u64()), (0, Some(1)));
}

#[test]
fn a_repeated_key_is_refused_where_it_is_repeated() {
    let text =
        deployment("a", "a").replace("spec:\n  selector", "spec:\n  replicas: 1\n  replicas: 2\n  selector");
    let (report, code) = check(text.as_bytes(), &[]);
    assert_eq!(code, 1);
    assert_eq!(findings(&report), ["key \"replicas\" already set in map"]);
    assert_eq!(report["results"][0]["findings"][0]["line"], 6);
    let (report, code) = check(text.as_bytes(), &["--field-validation", "warn"]);
    assert_eq!((code, report["summary"]["warnings"].as_u64()), (0, Some(1)));
    assert_eq!(check(text.as_bytes(), &["--field-validation", "warn", "--fail-on-warnings"]).1, 1);
    assert_eq!(check(text.as_bytes(), &["--field-validation", "ignore"]).0["summary"]["warnings"], 0);
}

#[test]
fn the_namespace_asked_for_must_be_the_objects_own() {
    let text = deployment("a", "a").replace("{name: a}", "{name: a, namespace: x}");
    assert_eq!(check(text.as_bytes(), &[]).1, 0);
    assert_eq!(check(text.as_bytes(), &["--namespace", "x"]).1, 0);
    let (report, code) = check(text.as_bytes(), &["--namespace", "y"]);
    assert_eq!(code, 1);
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(findings(&report), [message]);
}

#[test]
fn unusable_input_and_wrong_usage_end_with_2() {
    let code = |args: &[&str], input: &[u8]| rollgate(args, input).status.code().unwrap();
    assert_eq!(code(&["check", "-"], b""), 2);
    assert_eq!(code(&["check", "-"], b"# nothing\n"), 2);
    assert_eq!(code(&["check", "-"], b"a: 1\n"), 2);
    assert_eq!(code(&["check", "-"], b"a: [\n"), 2);
    assert_eq!(code(&["check", "-"], b"\x00\xff\x01"), 2);
    assert_eq!(code(&["check", "no/such/file.yaml"], b""), 2);
    assert_eq!(code(&["check", "--no-such-flag"], b""), 2);
    assert_eq!(code(&["check", "--old", "no/such/file.yaml", "-"], b""), 2);
}

#[test]
fn large_input_is_judged_in_pieces_with_the_right_lines() {
    let mut text = String::new();
    for i in 0..6000 {
        let label = if i % 1000 == 999 { "wrong".into() } else { format!("d{i}") };
        text.push_str(&deployment(&format!("d{i}"), &label));
        text.push_str("--- # next\n");
    }
    let (report, code) = check(text.as_bytes(), &[]);
    assert_eq!(code, 1);
    assert_eq!(report["summary"]["accepted"], 5994);
    let results = report["results"].as_array().unwrap();
    let lines: Vec<u64> = results
        .iter()
        .flat_map(|r| r["findings"].as_array().unwrap())
        .map(|f| f["line"].as_u64().unwrap())
        .collect();
    // Each document has 11 lines with its separator; the labels stand on the seventh.
    assert_eq!(lines, (0..6).map(|i| (i * 1000 + 999) * 11 + 7).collect::<Vec<u64>>());
}

#[test]
fn a_folder_is_judged_in_the_order_of_its_names_whatever_their_size() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a-folder");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("c")).unwrap();
    let many: Vec<String> = (0..3000).map(|i| deployment(&format!("b{i}"), &format!("b{i}"))).collect();
    let files = [("a.yaml", "a"), ("c/d.yml", "d"), ("c/e.txt", "e"), ("f.json.yaml", "f"), ("g.yaml", "")];
    for (file, name) in files {
        let text = if name.is_empty() { String::new() } else { deployment(name, name) };
        std::fs::write(folder.join(file), text).unwrap();
    }
    std::fs::write(folder.join("b.yaml"), many.join("---\n")).unwrap();
    std::os::unix::fs::symlink("a.yaml", folder.join("h.yaml")).unwrap();
    std::os::unix::fs::symlink("c", folder.join("i.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("j.yaml")).unwrap();

    let output = rollgate(&["check", "--output", "json", folder.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(2), "the link to nowhere cannot be read");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = report["results"].as_array().unwrap();
    let mut names: Vec<&str> = results.iter().filter_map(|r| r["name"].as_str()).collect();
    names.dedup_by_key(|name| name.as_bytes()[0]);
    assert_eq!(names, ["a", "b0", "d", "f", "a"]);
    assert_eq!(report["summary"]["accepted"], 3004);
    assert_eq!(report["summary"]["unusable"], 1);
}

#[test]
fn a_proxy_of_the_environment_is_not_for_this_machine() {
    // Nobody listens on this port: what matters is who is asked.
    let config = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nobody.kubeconfig");
    let text = "{apiVersion: v1, kind: Config, current-context: c, users: [], \
                contexts: [{name: c, context: {cluster: c, user: ''}}], \
                clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]}";
    std::fs::write(&config, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rollgate"))
        .args(["plan", "--live", "web", "--kubeconfig", config.to_str().unwrap()])
        .env("HTTPS_PROXY", "http://proxy.test:3128")
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("could not read Deployment default/web from http://127.0.0.1:1"), "{told}");
    assert!(!told.contains("proxy"), "{told}");
}

#[test]
fn the_examples_are_judged_as_their_folders_say() {
    let code = |folder| rollgate(&["check", folder], b"").status.code().unwrap();
    assert_eq!(code("examples/good"), 0);
    assert_eq!(code("examples/bad"), 1);
    let report = rollgate(&["check", "examples/bad", "--output", "json"], b"");
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["summary"]["accepted"], 0);
}

#[test]
fn every_output_of_the_examples_is_as_looked_at() {
    for format in ["text", "github", "junit", "sarif", "json"] {
        let output = rollgate(&["check", "examples", "--output", format], b"");
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(format!("check-{format}"), text);
        });
    }
}
