//! The tree as the tests see it: its files, without what git ignores, and its crates.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cargo_metadata::{Metadata, MetadataCommand, Package};

/// A text file of the tree.
pub(crate) struct TextFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// A file that is not there, to show that a rule can fail.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn has_ending(&self, ending: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == ending)
    }
}

pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> =
        LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder").to_owned());
    &ROOT
}

/// Every text file that git does not ignore, whether or not git is there.
pub(crate) fn text_files() -> &'static [TextFile] {
    static FILES: LazyLock<Vec<TextFile>> = LazyLock::new(|| {
        let walk = ignore::WalkBuilder::new(root())
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .git_exclude(false)
            .parents(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        let entries = walk.map(|entry| entry.expect("a readable folder"));
        let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let read = |path: &Path| String::from_utf8(fs::read(path).expect("a readable file")).ok();
        let is_text = |text: &String| !text.contains('\0');
        let mut files: Vec<TextFile> = files
            .filter_map(|file| {
                let path = file.path().strip_prefix(root()).expect("a file of the tree");
                let text = read(file.path()).filter(is_text)?;
                Some(TextFile { path: path.to_str().expect("a UTF-8 name").to_owned(), text })
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    });
    &FILES
}

pub(crate) fn workspace() -> &'static Metadata {
    static WORKSPACE: LazyLock<Metadata> = LazyLock::new(|| {
        let manifest = root().join("Cargo.toml");
        MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo metadata")
    });
    &WORKSPACE
}

pub(crate) fn members() -> Vec<&'static Package> {
    workspace().workspace_packages()
}

/// The sources that end up in a crate, without its tests and examples.
pub(crate) fn sources_of(member: &str) -> impl Iterator<Item = &'static TextFile> {
    let folder = format!("{member}/src/");
    text_files().iter().filter(move |file| file.path.starts_with(&folder) && file.has_ending("rs"))
}

#[test]
fn the_tree_is_read() {
    let here = "xtask/tests/tidy/repository.rs";
    assert!(text_files().iter().any(|file| file.path == here), "{here} is not among the files");
    assert!(text_files().iter().all(|file| !file.path.starts_with("target/")), "target/ is ignored by git");
    assert!(sources_of("proto").any(|file| file.path == "proto/src/lib.rs"));
}
