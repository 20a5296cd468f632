//! Constant arithmetic, so numbers written as expressions are not treated as unknown.

/// Returns the value of a sum, difference or product of plain numbers.
pub(super) fn constant(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > 32 {
        return None;
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.to_string());
    }
    for operator in ['+', '-', '*'] {
        if let Some((left, right)) = text.split_once(operator) {
            let left = left.trim().parse::<i64>().ok()?;
            let right = right.trim().parse::<i64>().ok()?;
            let value = match operator {
                '+' => left.checked_add(right),
                '-' => left.checked_sub(right),
                _ => left.checked_mul(right),
            };
            return value.map(|value| value.to_string());
        }
    }
    None
}
