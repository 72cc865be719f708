//! Whatever the bytes, rollgate answers: no panic, no long wait, no memory that grows.
//!
//! Inputs are made from their number, so a failure names the one number that repeats it. A plain
//! `cargo test` tries a few thousand; `ROLLGATE_FUZZ=1000000 cargo test --release --test fuzz` tries a
//! million of each kind.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rollgate::answer;
use rollgate::check::encoding::decode;
use rollgate::check::manifest::{FieldValidation, OldObjects, Part, Settings, check};
use rollgate::check::yaml;
use rollgate::verdict::Server;
use serde_json::value::RawValue;

mod random;
use random::Random;

/// How long one input may take. Far more than any needs, so that a busy machine does not matter.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the whole process may take at its peak, in KiB.
const MEMORY_KIB: u64 = 512 * 1024;

fn inputs() -> u64 {
    env::var("ROLLGATE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(4000)
}

#[test]
fn arbitrary_bytes_are_answered() {
    each_input("arbitrary", |random| {
        let bytes = random.soup();
        feed(bytes);
    });
}

#[test]
fn damaged_manifests_are_answered() {
    let manifests = manifests();
    each_input("damaged", |random| {
        let mut text = random.pick(&manifests).clone().into_bytes();
        for _ in 0..=random.below(4) {
            random.damage(&mut text, &manifests);
        }
        feed(text);
    });
}

/// Gives some bytes to every reader; the two of YAML must agree.
fn feed(bytes: Vec<u8>) {
    answer::admission(&bytes);
    let text = decode(bytes);
    assert_eq!(yaml::read(&text), yaml::read_in_full(&text), "{text:?}");
    let quoted = serde_json::Value::String(text.clone());
    answer::admission(format!("{{\"id\":\"f\",\"object_text\":{quoted}}}").as_bytes());
    answer::admission(format!("{{\"object\":{text}}}").as_bytes());
    let old = OldObjects::read(&text).ok();
    let settings = Settings {
        server: Server::new(true),
        namespace: None,
        field_validation: FieldValidation::Strict,
        old: old.as_ref(),
    };
    for part in [Part::Whole, Part::Yaml, Part::Json] {
        check(&text, part, 1, &settings);
    }
}

/// Makes all inputs on all cores and feeds them; says which one failed.
fn each_input(kind: &str, run: impl Fn(&mut Random) + Sync) {
    let next = AtomicU64::new(0);
    let total = inputs();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= total {
                        return;
                    }
                    let start = Instant::now();
                    let outcome = panic::catch_unwind(AssertUnwindSafe(|| run(&mut Random::new(number))));
                    assert!(outcome.is_ok(), "{kind} input {number} makes rollgate panic");
                    assert!(start.elapsed() < PATIENCE, "{kind} input {number} took {:?}", start.elapsed());
                }
            });
        }
    });
    let peak = peak_memory_kib();
    assert!(peak < MEMORY_KIB, "after {total} {kind} inputs the process had used {peak} KiB");
    println!("{total} {kind} inputs, {peak} KiB at most");
}

/// The most memory that this process ever had, in KiB; 0 where the system does not say.
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Manifests to damage: a few in YAML, and the objects of recorded questions.
fn manifests() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out: Vec<String> = random::YAML.iter().map(|&y| y.to_owned()).collect();
    for file in fs::read_dir(root.join("tests/data/admission")).expect("the recorded verdicts") {
        let text = fs::read_to_string(file.expect("a readable folder").path()).expect("a readable file");
        for line in text.lines().step_by(7) {
            let case: HashMap<&str, HashMap<&str, &RawValue>> =
                serde_json::from_str(line).expect("a case is JSON");
            out.extend(case["question"].get("object").map(|object| object.get().to_owned()));
        }
    }
    out
}
