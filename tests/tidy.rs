//! What no compiler checks: the pure folders stay pure, and nothing under `tests/` lies there
//! without being run.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files that take values and return values.
const PURE: [&str; 11] = [
    "src/schema",
    "src/kube_types",
    "src/defaults",
    "src/defaults.rs",
    "src/validate",
    "src/policy",
    "src/check",
    "src/rollout",
    "src/simulate",
    "src/verdict.rs",
    "src/verdict",
];

/// What a pure file may not name: waiting, clocks, clients, files, the network, the process.
const IMPURE: [&str; 16] = [
    "async fn",
    "async move",
    "::now()",
    "kube::",
    "std::fs",
    "std::env",
    "std::process",
    "std::thread",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "tokio",
    "hyper",
    "axum",
    "reqwest",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file at or below a path, the path relative to the root; none when there is no such path.
fn files(at: &Path) -> Vec<PathBuf> {
    if at.is_file() {
        return vec![at.to_owned()];
    }
    let Ok(entries) = fs::read_dir(at) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.flat_map(|e| files(&e.expect("a readable folder").path())).collect();
    found.sort();
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rs")
}

/// The lines that are compiled into the program: no comments, and nothing from the first test on.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.lines().enumerate().map(|(i, line)| (i + 1, line));
    lines
        .take_while(|(_, line)| !line.contains("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn the_pure_folders_do_no_input_or_output() {
    let mut found = Vec::new();
    let sources: Vec<PathBuf> =
        PURE.iter().flat_map(|p| files(&root().join(p))).filter(|p| is_rust(p)).collect();
    assert!(sources.len() > 10, "the pure folders have moved: only {} files", sources.len());
    for path in sources {
        let source = text(&path);
        for (number, line) in code(&source) {
            for word in IMPURE.iter().filter(|w| names(line, w)) {
                found.push(format!("{}:{number}: {word}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "pure code does I/O:\n{}", found.join("\n"));
}

/// Whether a line has a word that does not go on to the left (`kube::` is not in `my_kube::`).
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        word.starts_with(':') || !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn everything_under_tests_is_run() {
    let tests = root().join("tests");
    let sources = files(&tests).into_iter().filter(|p| is_rust(p) && !p.ends_with("tidy.rs"));
    let rust: String = sources.map(|p| text(&p)).collect();
    let ci = text(&root().join(".ci/run"));
    let mut idle = Vec::new();
    for path in files(&tests) {
        let inner = path.strip_prefix(&tests).expect("it was found there").to_owned();
        let mut parts = inner.iter().map(|p| p.to_string_lossy());
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        let run = match (first.as_ref(), second) {
            (_, None) => is_rust(&path),
            ("data", Some(case)) => rust.contains(&format!("data/{case}")),
            // insta names a snapshot after its test; others are named by the test themselves.
            ("snapshots", Some(name)) => match name.split_once("__") {
                Some((test, _)) => tests.join(format!("{test}.rs")).is_file(),
                None => rust.contains("snapshot_path"),
            },
            // A test in a folder of its own, with data that its code names by their folder.
            (folder, Some(_)) if tests.join(folder).join("main.rs").is_file() => {
                let inside = path.parent().and_then(Path::file_name).expect("it lies in a folder");
                is_rust(&path) || rust.contains(&*inside.to_string_lossy())
            }
            // What is no Rust is run by the script that CI runs.
            (folder, Some(_)) => {
                ci.contains(&format!("tests/{folder}"))
                    || is_rust(&path) && rust.contains(&format!("mod {folder};"))
            }
        };
        if !run {
            idle.push(inner.display().to_string());
        }
    }
    assert!(idle.is_empty(), "nothing runs these:\n{}", idle.join("\n"));
}
