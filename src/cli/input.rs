//! Where manifests come from: files, folders and standard input, in pieces that can be worked on
//! independently.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::documents;
use crate::check::encoding::{self, Decoder};
use crate::check::manifest::Part;

/// The name for standard input on the command line.
pub(super) const STDIN: &str = "-";

/// What files of a folder are manifests, as kubectl has it.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// How much text a piece of a file has, unless a document is longer. Files up to this size are read
/// whole.
const PIECE_BYTES: usize = 256 << 10;

/// What is left free behind a file's text: the line break it may lack.
const SPARE_BYTES: usize = 1;

/// The longest document of a larger file.
const MAX_DOCUMENT_BYTES: usize = 256 << 20;

/// One piece of work.
pub(super) enum Job {
    /// A file that nobody has looked at yet.
    File(PathBuf),
    /// What is read already.
    Read(Input),
}

/// What a job turns out to be.
pub(super) enum Input {
    /// A text, or why there is none.
    Text(Text),
    /// What has to be judged in pieces.
    Large(Large),
}

/// A file larger than a piece, or standard input.
pub(super) struct Large {
    file: Arc<str>,
    source: Source,
}

enum Source {
    /// Opened when its turn comes: of large files, many may wait.
    File(PathBuf),
    /// What can be opened only once.
    Stream(Box<dyn Read + Send>),
}

/// A text to judge, and where it is from.
#[derive(Debug)]
pub(super) struct Text {
    /// The name of the file.
    pub(super) file: Arc<str>,
    /// The text, or why there is none.
    pub(super) text: io::Result<String>,
    /// What part of the file it is.
    pub(super) part: Part,
    /// The number of its first line.
    pub(super) first_line: u64,
}

impl Job {
    /// Reads what is not read yet.
    pub(super) fn read(self) -> Input {
        match self {
            Job::File(path) => {
                read_file(&path).unwrap_or_else(|error| Input::Text(Text::failed(&path, error)))
            }
            Job::Read(input) => input,
        }
    }
}

impl Text {
    fn whole(file: Arc<str>, text: io::Result<String>) -> Text {
        Text { file, text, part: Part::Whole, first_line: 1 }
    }

    fn failed(path: &Path, error: io::Error) -> Text {
        Text::whole(name_of(path), Err(error))
    }
}

/// Everything that was named, in order. Folders are read recursively, sorted by name.
pub(super) fn jobs(paths: Vec<PathBuf>) -> impl Iterator<Item = Job> + Send {
    paths.into_iter().flat_map(|path| -> Box<dyn Iterator<Item = Job> + Send> {
        if path.as_os_str() == STDIN {
            let large = Large { file: "stdin".into(), source: Source::Stream(Box::new(io::stdin())) };
            return Box::new(once(Job::Read(Input::Large(large))));
        }
        if path.is_dir() { Box::new(files(path)) } else { Box::new(once(Job::File(path))) }
    })
}

/// The texts of everything that was named, in order and in pieces.
pub(super) fn texts(paths: Vec<PathBuf>) -> impl Iterator<Item = Text> {
    jobs(paths).flat_map(|job| -> Box<dyn Iterator<Item = Text>> {
        match job.read() {
            Input::Text(text) => Box::new(once(text)),
            Input::Large(large) => large.pieces(),
        }
    })
}

/// How many files there are in all, for showing progress.
pub(super) fn count(paths: &[PathBuf]) -> u64 {
    let of = |path: &PathBuf| if path.is_dir() { files(path.clone()).count() as u64 } else { 1 };
    paths.iter().map(of).sum()
}

fn name_of(path: &Path) -> Arc<str> {
    path.to_string_lossy().into()
}

fn read_file(path: &Path) -> io::Result<Input> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    let large = |source| Input::Large(Large { file: name_of(path), source });
    if !about.is_file() {
        return Ok(large(Source::Stream(Box::new(file))));
    }
    // The kernel's own files tell no size.
    if about.len() == 0 || about.len() > PIECE_BYTES as u64 {
        return Ok(large(Source::File(path.to_owned())));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize + SPARE_BYTES);
    file.take(about.len()).read_to_end(&mut bytes)?;
    Ok(Input::Text(Text::whole(name_of(path), Ok(encoding::decode(bytes)))))
}

/// The manifests of a folder. Links to files are followed, links to folders are not, as with kubectl.
fn files(folder: PathBuf) -> impl Iterator<Item = Job> + Send {
    let mut open = Vec::new();
    // To be entered next.
    let mut found = Some(folder);
    std::iter::from_fn(move || {
        loop {
            if let Some(folder) = found.take() {
                match Folder::open(&folder) {
                    Ok(entered) => open.push(entered),
                    Err(error) => return Some(Job::Read(Input::Text(Text::failed(&folder, error)))),
                }
            }
            let folder = open.last_mut()?;
            let Some((name, kind)) = folder.entries.next() else {
                open.pop();
                continue;
            };
            let is_manifest =
                Path::new(&name).extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known));
            match kind {
                Kind::Folder => found = Some(folder.path.join(name)),
                Kind::Link if is_manifest && folder.path.join(&name).is_dir() => {}
                Kind::Link | Kind::Other if is_manifest => return Some(Job::File(folder.path.join(name))),
                Kind::Link | Kind::Other => {}
            }
        }
    })
}

/// A folder that is being gone through.
struct Folder {
    path: PathBuf,
    /// What it still has to offer, in the order of the names.
    entries: std::vec::IntoIter<(OsString, Kind)>,
}

/// What an entry of a folder is, as the folder itself tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    Link,
    Other,
}

impl Folder {
    fn open(path: &Path) -> io::Result<Folder> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let kind = match entry.file_type()? {
                t if t.is_dir() => Kind::Folder,
                t if t.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            entries.push((entry.file_name(), kind));
        }
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Folder { path: path.to_owned(), entries: entries.into_iter() })
    }
}

impl Large {
    /// The pieces, in order: some whole documents each.
    pub(super) fn pieces(self) -> Box<dyn Iterator<Item = Text> + Send> {
        let Large { file, source } = self;
        let reader = match source {
            Source::Stream(reader) => reader,
            Source::File(path) => match File::open(&path) {
                Ok(opened) => Box::new(opened),
                Err(error) => return Box::new(once(Text::failed(&path, error))),
            },
        };
        let mut pieces = Pieces {
            reader,
            decoder: Decoder::new(),
            buffer: String::new(),
            at_end: false,
            mode: Mode::Unknown,
            first_line: 1,
        };
        let mut over = false;
        Box::new(std::iter::from_fn(move || {
            if over {
                return None;
            }
            match pieces.next_piece() {
                Ok(None) => None,
                Ok(Some((text, part))) => {
                    let first_line = pieces.first_line;
                    pieces.first_line += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
                    Some(Text { file: file.clone(), text: Ok(text), part, first_line })
                }
                Err(error) => {
                    over = true;
                    Some(Text::whole(file.clone(), Err(error)))
                }
            }
        }))
    }
}

/// What kind of text it is, as far as that decides where it can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Unknown,
    Yaml,
    /// A stream of JSON values: certain after two of them.
    JsonStream,
    /// One JSON value, or what only looks like JSON: cannot be cut.
    Whole,
}

struct Pieces {
    reader: Box<dyn Read + Send>,
    decoder: Decoder,
    buffer: String,
    at_end: bool,
    mode: Mode,
    first_line: u64,
}

impl Pieces {
    /// The next piece of text: some whole documents.
    fn next_piece(&mut self) -> io::Result<Option<(String, Part)>> {
        let mut wanted = PIECE_BYTES;
        loop {
            self.fill(wanted)?;
            let first = self.mode == Mode::Unknown;
            if first {
                self.mode = self.find_mode();
            }
            let part = match self.mode {
                _ if first => Part::Whole,
                Mode::JsonStream => Part::Json,
                _ => Part::Yaml,
            };
            if self.at_end {
                let text = std::mem::take(&mut self.buffer);
                return Ok((!text.is_empty()).then_some((text, part)));
            }
            let cut = match self.mode {
                Mode::Yaml => documents::last_yaml_cut(&self.buffer),
                Mode::JsonStream => documents::last_json_cut(&self.buffer),
                Mode::Unknown | Mode::Whole => None,
            };
            if let Some(cut) = cut {
                let rest = self.buffer.split_off(cut);
                return Ok(Some((std::mem::replace(&mut self.buffer, rest), part)));
            }
            if self.buffer.len() > MAX_DOCUMENT_BYTES {
                let limit = MAX_DOCUMENT_BYTES >> 20;
                return Err(io::Error::other(format!("a document is longer than {limit} MiB")));
            }
            if first {
                self.mode = Mode::Unknown;
            }
            wanted = self.buffer.len() * 2;
        }
    }

    fn find_mode(&self) -> Mode {
        if !documents::begins_as_json(&self.buffer) {
            Mode::Yaml
        } else if documents::is_json_stream(&self.buffer) {
            Mode::JsonStream
        } else {
            Mode::Whole
        }
    }

    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let mut bytes = vec![0; PIECE_BYTES];
        while !self.at_end && self.buffer.len() < wanted {
            match self.reader.read(&mut bytes) {
                Ok(0) => {
                    self.decoder.finish(&mut self.buffer);
                    self.at_end = true;
                }
                Ok(n) => self.decoder.push(&bytes[..n], &mut self.buffer),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}
