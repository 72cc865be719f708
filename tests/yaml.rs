//! What is read from a text is what kubectl v0.37.2 reads from it.
//!
//! `data/yaml/*.ndjson` are recordings of kubectl's own readers, made by `differential/reads`:
//! a text, the JSON documents that kubectl would send, and the error, if any, that comes after them.
//! `YAML_RECORDING=file` compares with another recording, of any length.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is a failure")]

use std::path::{Path, PathBuf};

use rollgate::check::encoding;
use rollgate::check::manifest::{self, Part};
use rollgate::schema::json;
use rollgate::schema::source::{Data, Node};
use serde_json::Value;

/// Equal but for places.
fn same(a: &Node<'_>, b: &Node<'_>) -> bool {
    match (&a.data, &b.data) {
        (Data::Array(a), Data::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Data::Object(a), Data::Object(b)) => {
            // Repeated members of JSON are kept, for the server to complain about; the last one counts.
            let last = |i: &usize| a.get(i + 1).is_none_or(|next| next.key != a[*i].key);
            let a: Vec<_> = (0..a.len()).filter(last).map(|i| &a[i]).collect();
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        // What lies deeper than any field is not kept word for word.
        (Data::Deep(_), _) | (_, Data::Deep(_)) => true,
        (a, b) => a == b,
    }
}

fn difference(recorded: &Value) -> Option<String> {
    let text = encoding::decode(recorded["text"].as_str().unwrap().as_bytes().to_vec());
    let expected: Vec<&str> =
        recorded["documents"].as_array().unwrap().iter().map(|d| d.as_str().unwrap()).collect();
    let error = recorded["error"].as_str();
    let mut read = Vec::new();
    let mut failed = None;
    manifest::each_document(&text, Part::Whole, &mut |document| match document {
        Ok((_, content)) if failed.is_none() => read.push(content.root),
        Ok(_) => {}
        Err((_, e)) => failed = failed.take().or(Some(e.message)),
    });
    if failed.is_some() != error.is_some() {
        return Some(format!("error {failed:?}, kubectl has {error:?}"));
    }
    // We go on to what kubectl drops together with a bad separator.
    if error.is_some_and(|e| e.contains("invalid Yaml document separator")) {
        read.truncate(expected.len());
    }
    if read.len() != expected.len() {
        return Some(format!("{} documents, kubectl has {}", read.len(), expected.len()));
    }
    for (node, expected) in read.iter().zip(expected) {
        let parsed = json::read(expected.as_bytes()).unwrap();
        if !same(node, &parsed) {
            return Some(format!("{}, kubectl has {expected}", rollgate::schema::write::node(node)));
        }
    }
    None
}

fn compare(path: &Path) {
    let recording = std::fs::read_to_string(path).unwrap();
    let mut differences = Vec::new();
    let mut total = 0;
    for line in recording.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        total += 1;
        if let Some(difference) = difference(&recorded) {
            differences.push(format!("{}\n    {difference}", recorded["text"]));
        }
    }
    assert!(total > 0, "{} is empty", path.display());
    let shown = differences.iter().take(25).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        differences.is_empty(),
        "{} of {total} texts in {} are read in another way:\n{shown}",
        differences.len(),
        path.display()
    );
}

#[test]
fn every_recorded_text_is_read_as_kubectl_reads_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/yaml");
    let mut recordings: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    recordings.sort();
    assert!(!recordings.is_empty());
    recordings.iter().for_each(|r| compare(r));
}

#[test]
fn another_recording_agrees_too() {
    if let Some(path) = std::env::var_os("YAML_RECORDING") {
        compare(Path::new(&path));
    }
}
