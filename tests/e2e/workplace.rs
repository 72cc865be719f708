//! Where a test keeps its files, and where it finds the programs and ports it needs.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// The folder that holds the programs of the control plane.
pub(crate) const PROGRAMS: &str = "ROLLGATE_CONTROL_PLANE";

/// The path of a program of the control plane.
pub(crate) fn program(name: &str) -> PathBuf {
    let folder = env::var_os(PROGRAMS).unwrap_or_else(|| {
        panic!("set {PROGRAMS} to the folder of etcd, kube-apiserver, kube-controller-manager and kubectl")
    });
    let program = Path::new(&folder).join(name);
    assert!(program.is_file(), "{} is missing: {PROGRAMS} must be a folder that holds it", program.display());
    program
}

/// The program under test.
pub(crate) fn rollgate() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_rollgate"))
}

/// The folder of these tests' own files.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e")
}

/// The files of a folder that end in `.EXTENSION`, in the order of their names.
///
/// Panics when there are none: a test over no cases would show nothing.
pub(crate) fn cases(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a folder of this repository can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{extension} files in {}", folder.display());
    files
}

/// The name of a file without folder and extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().expect("a case is a file").to_string_lossy().into_owned()
}

/// A folder for one test, emptied at start. It stays, so that logs can be read after the test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("a folder of an earlier run can be removed");
    }
    fs::create_dir_all(&folder).expect("the build's folder is writable");
    folder
}

/// Ports of 127.0.0.1 that nobody listens on.
///
/// Somebody else could take one before it is used; the system hands out others first, so that two
/// tests at once do not meet.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners: [TcpListener; N] =
        std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").expect("the loopback has free ports"));
    listeners.map(|l| l.local_addr().expect("a bound socket has an address").port())
}

/// Asks again and again until `answer` gives a value, or the time is over.
pub(crate) fn wait_for<T>(limit: Duration, mut answer: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = answer() {
            return Some(value);
        }
        if start.elapsed() >= limit {
            return None;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
