//! The archive that a Linux kernel unpacks as its first file system: cpio in
//! the "newc" form (the kernel's own page on it: early-userspace/buffer-format).

/// An archive in the making.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    folders: Vec<String>,
    inodes: u32,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

impl Archive {
    /// Adds an executable file, and the folders that lead to it. `path` is relative to the root.
    pub fn program(&mut self, path: &str, content: &[u8]) {
        for (at, _) in path.match_indices('/') {
            let folder = path.get(..at).unwrap_or_default();
            if !self.folders.iter().any(|known| known == folder) {
                self.folders.push(folder.to_owned());
                self.entry(folder, FOLDER, &[]);
            }
        }
        self.entry(path, PROGRAM, content);
    }

    /// The whole archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.inodes += 1;
        let fields = [
            self.inodes as usize,
            mode as usize,
            0, // user
            0, // group
            1, // links
            0, // time
            content.len(),
            0, // device, major and minor
            0,
            0, // device of a special file, major and minor
            0,
            path.len() + 1,
            0, // checksum, unused
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    /// Names and contents end at a multiple of four.
    fn pad(&mut self) {
        let end = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn entries_are_aligned_and_folders_come_first_and_once() {
        let mut archive = Archive::default();
        archive.program("a/b/x", b"12345");
        archive.program("a/y", b"");
        let bytes = archive.finish();
        let starts: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"070701")).collect();
        assert!(starts.iter().all(|at| at % 4 == 0), "{starts:?}");
        let names: Vec<String> = starts
            .iter()
            .map(|at| {
                let name = bytes[at + 110..].split(|&b| b == 0).next().expect("a name");
                String::from_utf8(name.to_vec()).expect("text")
            })
            .collect();
        assert_eq!(names, ["a", "a/b", "a/b/x", "a/y", "TRAILER!!!"]);
        let x = &bytes[starts[2]..];
        assert_eq!(&x[6 + 6 * 8..6 + 7 * 8], b"00000005", "the size");
        assert_eq!(&x[116..121], b"12345", "the content, after header, name and padding");
    }
}
