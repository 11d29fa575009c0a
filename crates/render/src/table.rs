//! Columns that line up.

use crate::style::paint;
use anstyle::Style as Ansi;

/// A table with a heading line; numbers stand to the right, words to the left.
pub struct Table {
    head: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone)]
pub struct Cell {
    text: String,
    style: Ansi,
    right: bool,
}

impl Cell {
    /// A word.
    pub fn left(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Ansi::new(), right: false }
    }

    /// A number.
    pub fn right(text: impl Into<String>) -> Self {
        Self { right: true, ..Self::left(text) }
    }

    /// The same, coloured.
    pub fn styled(self, style: Ansi) -> Self {
        Self { style, ..self }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl Table {
    /// A table with this heading.
    pub fn new(head: Vec<Cell>) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines, each beginning with `indent`. Columns in which no row holds anything are left out.
    pub fn lines(&self, indent: &str, heading: Ansi) -> Vec<String> {
        let columns = self.head.len();
        let used = |column: &usize| self.rows.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.text.is_empty()));
        let used = (0..columns).filter(used).collect::<Vec<_>>();
        let head = self.head.iter().map(|cell| cell.clone().styled(heading)).collect::<Vec<_>>();
        let all = std::iter::once(&head).chain(&self.rows);
        let width = |column: usize| all.clone().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
        let widths = (0..columns).map(width).collect::<Vec<_>>();
        let line = |row: &Vec<Cell>| {
            let mut line = indent.to_owned();
            for (place, &column) in used.iter().enumerate() {
                let Some(cell) = row.get(column) else { continue };
                let gap = " ".repeat(widths[column] - cell.width());
                let text = paint(cell.style, &cell.text);
                line += if place > 0 { "  " } else { "" };
                line += &if cell.right { gap + &text } else { text + &gap };
            }
            line.trim_end().to_owned()
        };
        std::iter::once(&head).chain(&self.rows).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_empty_ones_go() {
        let mut table = Table::new(vec![Cell::left("mix"), Cell::left("nothing"), Cell::right("GB/s")]);
        table.row(vec![Cell::left("read"), Cell::left(""), Cell::right("84.1")]);
        table.row(vec![Cell::left("±"), Cell::left(""), Cell::right("104.0")]);
        assert_eq!(table.lines(" ", Ansi::new()), [" mix    GB/s", " read   84.1", " ±     104.0"]);
    }
}
