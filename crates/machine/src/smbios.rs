//! SMBIOS structures: a header (type, length, handle), fields, then strings up to a double NUL. Read here and not by the
//! `dmidecode` crate because that one panics on truncated tables and does not know the extended speeds of SMBIOS 3.3.

/// A structure: its fields by the offsets of the specification, header included, and its strings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Structure<'t> {
    fields: &'t [u8],
    strings: &'t [u8],
}

impl<'t> Structure<'t> {
    /// Cuts the first structure off a table, or reads `entries/N/raw`. `None` at its end and where it is damaged.
    pub(crate) fn take(table: &'t [u8]) -> Option<(Self, &'t [u8])> {
        let length = usize::from(*table.get(1)?);
        if length < 4 {
            return None;
        }
        let (fields, rest) = table.split_at_checked(length)?;
        let end = rest.windows(2).position(|pair| pair == [0, 0])? + 2;
        let (strings, rest) = rest.split_at_checked(end)?;
        Some((Self { fields, strings }, rest))
    }

    /// The type.
    pub(crate) fn kind(&self) -> u8 {
        self.fields[0]
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.fields.get(at).copied()
    }

    pub(crate) fn word(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.fields.get(at..at.checked_add(2)?)?.try_into().ok()?))
    }

    pub(crate) fn dword(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.fields.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    /// The string that a field names; empty where it names none.
    pub(crate) fn string(&self, at: usize) -> String {
        let Some(number @ 1..) = self.byte(at).map(usize::from) else { return String::new() };
        let text = self.strings.split(|byte| *byte == 0).nth(number - 1).unwrap_or_default();
        String::from_utf8_lossy(text).trim().to_owned()
    }
}

/// The structures of a table, up to the end marker (type 127) or the first damage.
pub(crate) fn structures(table: &[u8]) -> impl Iterator<Item = Structure<'_>> {
    let mut rest = table;
    std::iter::from_fn(move || {
        let (structure, after) = Structure::take(rest)?;
        rest = after;
        (structure.kind() != 127).then_some(structure)
    })
}
