//! Where manifests come from: files, folders and standard input, in pieces that can be worked on
//! independently.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::documents;
use crate::check::encoding::{self, Decoder};
use crate::check::manifest::Part;

/// The name for standard input on the command line.
pub(super) const STDIN: &str = "-";

/// What files of a folder are manifests, as kubectl has it.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Files up to this size are read whole, by the worker that judges them.
const WHOLE_FILE_BYTES: u64 = 1 << 20;

/// What is left free behind a file's text: the line break it may lack.
const SPARE_BYTES: usize = 1;

/// How much text a piece of a larger file has, unless a document is longer.
const PIECE_BYTES: usize = 256 << 10;

/// The longest document of a larger file.
const MAX_DOCUMENT_BYTES: usize = 256 << 20;

/// How many files a thread takes at a time, and how much text with the last of them.
const FILES_IN_BATCH: usize = 64;
const BATCH_BYTES: u64 = 128 << 10;

/// One piece of work.
#[derive(Debug)]
pub(super) enum Job {
    /// A file to be read whole.
    File {
        /// Where it is.
        path: PathBuf,
        /// Its size when it was found.
        size: u64,
    },
    /// A piece of a larger file or of standard input.
    Piece {
        /// The name of the file.
        file: Arc<str>,
        /// The text.
        text: String,
        /// What part of the file it is.
        part: Part,
        /// The number of its first line.
        first_line: u64,
    },
    /// Something that could not be read.
    Failed {
        /// The name of the file or folder.
        file: Arc<str>,
        /// Why.
        error: io::Error,
    },
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
    pub(super) fn read(self) -> Text {
        match self {
            Job::File { path, size } => {
                let text = read_file(&path, size).map(encoding::decode);
                Text { file: name_of(&path), text, part: Part::Whole, first_line: 1 }
            }
            Job::Piece { file, text, part, first_line } => Text { file, text: Ok(text), part, first_line },
            Job::Failed { file, error } => Text { file, text: Err(error), part: Part::Whole, first_line: 1 },
        }
    }
}

/// The pieces of everything that was named, in order. Folders are read recursively, sorted by name.
pub(super) fn jobs(paths: Vec<PathBuf>) -> impl Iterator<Item = Job> + Send {
    paths.into_iter().flat_map(|path| {
        if path.as_os_str() == STDIN {
            return pieces("stdin".into(), Box::new(io::stdin()));
        }
        match fs::metadata(&path) {
            Ok(about) if about.is_dir() => Box::new(files(path).flat_map(file_or_failure)),
            Ok(about) => file(path, about.len()),
            Err(error) => failed(&path, error),
        }
    })
}

/// The jobs in small batches, so that handing them to a thread costs little beside small files. Only
/// files to be read are put together: nobody waits for them, and they take no memory yet.
pub(super) fn batches(jobs: impl Iterator<Item = Job> + Send) -> impl Iterator<Item = Vec<Job>> + Send {
    let mut jobs = jobs.peekable();
    std::iter::from_fn(move || {
        let mut batch = vec![jobs.next()?];
        let mut bytes = 0;
        while let Some(Job::File { size, .. }) = batch.last() {
            bytes += size;
            if bytes >= BATCH_BYTES || batch.len() >= FILES_IN_BATCH {
                break;
            }
            let Some(file) = jobs.next_if(|next| matches!(next, Job::File { .. })) else { break };
            batch.push(file);
        }
        Some(batch)
    })
}

/// How many files there are in all, for showing progress.
pub(super) fn count(paths: &[PathBuf]) -> u64 {
    let of = |path: &PathBuf| if path.is_dir() { files(path.clone()).count() as u64 } else { 1 };
    paths.iter().map(of).sum()
}

type Jobs = Box<dyn Iterator<Item = Job> + Send>;

fn name_of(path: &Path) -> Arc<str> {
    path.to_string_lossy().into()
}

fn failed(path: &Path, error: io::Error) -> Jobs {
    Box::new(std::iter::once(Job::Failed { file: name_of(path), error }))
}

/// Reads a file of the size that it had when it was found, so that nothing asks for it again.
fn read_file(path: &Path, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size as usize + SPARE_BYTES);
    File::open(path)?.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn file_or_failure(found: Result<(PathBuf, u64), (PathBuf, io::Error)>) -> Jobs {
    match found {
        Ok((path, size)) => file(path, size),
        Err((path, error)) => failed(&path, error),
    }
}

fn file(path: PathBuf, size: u64) -> Jobs {
    // What is no plain file (a pipe, say) tells no size.
    if size > 0 && size <= WHOLE_FILE_BYTES {
        return Box::new(std::iter::once(Job::File { path, size }));
    }
    match File::open(&path) {
        Ok(file) => pieces(name_of(&path), Box::new(file)),
        Err(error) => failed(&path, error),
    }
}

/// The manifests of a folder with their sizes. Links to files are followed, links to folders are not,
/// as with kubectl.
fn files(folder: PathBuf) -> impl Iterator<Item = Result<(PathBuf, u64), (PathBuf, io::Error)>> + Send {
    // Entries still to visit, the next one last.
    let mut open = Vec::new();
    let mut first_error = None;
    if let Err(error) = push_entries(&folder, &mut open) {
        first_error = Some(Err((folder, error)));
    }
    std::iter::from_fn(move || {
        if let Some(error) = first_error.take() {
            return Some(error);
        }
        while let Some((path, is_folder)) = open.pop() {
            if is_folder {
                if let Err(error) = push_entries(&path, &mut open) {
                    return Some(Err((path, error)));
                }
            } else if path.extension().is_some_and(|e| EXTENSIONS.iter().any(|x| e == *x)) {
                match fs::metadata(&path) {
                    Ok(about) if about.is_dir() => {}
                    Ok(about) => return Some(Ok((path, about.len()))),
                    Err(error) => return Some(Err((path, error))),
                }
            }
        }
        None
    })
}

fn push_entries(folder: &Path, open: &mut Vec<(PathBuf, bool)>) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        entries.push((entry.path(), entry.file_type()?.is_dir()));
    }
    // All in one folder: the whole path orders them as the name does.
    entries.sort_unstable_by(|a, b| b.0.as_os_str().cmp(a.0.as_os_str()));
    open.append(&mut entries);
    Ok(())
}

fn pieces(file: Arc<str>, reader: Box<dyn Read + Send>) -> Jobs {
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
                Some(Job::Piece { file: file.clone(), text, part, first_line })
            }
            Err(error) => {
                over = true;
                Some(Job::Failed { file: file.clone(), error })
            }
        }
    }))
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
