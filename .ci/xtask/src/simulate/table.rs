//! Tables in Markdown, whose columns are aligned.

use super::cost::significant;

/// A table: a row of headings, then rows of cells.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// The number of columns from the left that hold text. The others hold numbers.
    texts: usize,
}

impl Table {
    pub fn new<'a>(texts: usize, headings: impl IntoIterator<Item = &'a str>) -> Self {
        let headings = headings.into_iter().map(str::to_owned).collect();
        Self { rows: vec![headings], texts }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The text of the table, with a line break at its end.
    pub fn text(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (n, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate();
            text.extend(cells.map(|(column, (cell, &width))| {
                if column < self.texts {
                    format!("| {cell:<width$} ")
                } else {
                    format!("| {cell:>width$} ")
                }
            }));
            text += "|\n";
            if n == 0 {
                text.extend(widths.iter().enumerate().map(|(column, width)| {
                    if column < self.texts {
                        format!("|{}", "-".repeat(width + 2))
                    } else {
                        format!("|{}:", "-".repeat(width + 1))
                    }
                }));
                text += "|\n";
            }
        }
        text
    }
}

/// A time with its unit; a dash for none.
pub fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds.is_nan() => "–".to_owned(),
        _ if seconds >= 1.0 => format!("{} s", significant(seconds)),
        _ if seconds >= 1e-3 => format!("{} ms", significant(1e3 * seconds)),
        _ => format!("{} µs", significant(1e6 * seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(1, ["policy", "TTFT"]);
        table.row(["one at a time".to_owned(), time(0.0123)]);
        table.row(["other".to_owned(), time(f64::NAN)]);
        let expected = "| policy        |    TTFT |\n|---------------|--------:|\n\
                        | one at a time | 12.3 ms |\n| other         |       – |\n";
        assert_eq!(table.text(), expected);
    }

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        assert_eq!([12.0, 0.5, 1e-5].map(time), ["12.0 s", "500 ms", "10.0 µs"]);
    }
}
