//! Blanks what is not code, so that a rule finds a word only where it acts.

/// `source` with the insides of comments, strings and characters replaced by
/// spaces; every line keeps its number.
pub fn blank(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = token_end(&chars, at);
        if end == at + 1 {
            out.extend(chars.get(at));
        } else {
            let token = chars.get(at..end).unwrap_or_default();
            out.extend(token.iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
        }
        at = end;
    }
    out
}

/// Where the comment or literal that starts at `at` ends; `at + 1` for code.
fn token_end(chars: &[char], at: usize) -> usize {
    let get = |index: usize| chars.get(index).copied().unwrap_or('\0');
    match (get(at), get(at + 1)) {
        ('/', '/') => find(chars, at, |i| get(i) == '\n'),
        ('/', '*') => block_comment(chars, at),
        ('"', _) => string(chars, at),
        ('r', '"' | '#') if at == 0 || !is_word(get(at - 1)) || raw_prefix(chars, at) => raw_string(chars, at).unwrap_or(at + 1),
        ('\'', '\\') => find(chars, at + 3, |i| get(i) == '\'') + 1,
        // A lifetime has no quote two places on.
        ('\'', _) if get(at + 2) == '\'' => at + 3,
        _ => at + 1,
    }
    .min(chars.len())
}

/// `br"` and `cr"`: the r belongs to a literal although a letter precedes it.
fn raw_prefix(chars: &[char], r: usize) -> bool {
    let before = |n: usize| r.checked_sub(n).and_then(|i| chars.get(i)).copied();
    matches!(before(1), Some('b' | 'c')) && !before(2).is_some_and(is_word)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn find(chars: &[char], from: usize, stop: impl Fn(usize) -> bool) -> usize {
    (from..chars.len()).find(|&i| stop(i)).unwrap_or(chars.len())
}

fn block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < chars.len() {
        match (chars.get(at), chars.get(at + 1)) {
            (Some('/'), Some('*')) => {
                depth += 1;
                at += 2;
            }
            (Some('*'), Some('/')) => {
                depth -= 1;
                at += 2;
            }
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// None for a raw identifier such as `r#type`.
fn raw_string(chars: &[char], r: usize) -> Option<usize> {
    let hashes = chars.iter().skip(r + 1).take_while(|&&c| c == '#').count();
    let quote = r + 1 + hashes;
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let mut at = quote + 1;
    while at < chars.len() {
        let closing = chars.iter().skip(at + 1).take(hashes).filter(|&&c| c == '#');
        if chars.get(at) == Some(&'"') && closing.count() == hashes {
            return Some(at + 1 + hashes);
        }
        at += 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::blank;

    #[test]
    fn only_code_stays() {
        for (source, code) in [
            ("a // unsafe\nb", "a          \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            ("f(\"un\\\"safe\") + 1", "f(          ) + 1"),
            ("r#\"say \"x\" \"# y", "              y"),
            ("br\"x\\\" y", "b      y"),
            ("let r#type = 1;", "let r#type = 1;"),
            ("let c = '\"'; d", "let c =    ; d"),
            ("let c = '\\''; d", "let c =     ; d"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("\"two\nlines\" x", "    \n       x"),
            ("\"never closed", "             "),
        ] {
            assert_eq!(blank(source), code, "{source}");
        }
    }
}
