//! Writes automata that find keywords in one pass (Aho and Corasick), as tables that need no building at start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// A state while the automaton is made.
#[derive(Default)]
struct State {
    children: BTreeMap<u8, usize>,
    fail: usize,
    owners: BTreeSet<u16>,
}

/// Writes the automaton `name` for `words`, each with who asks for it. A keyword is found in any case when
/// `ignores_case` is set.
pub(crate) fn write(
    name: &str,
    words: &[(Vec<u8>, u16)],
    ignores_case: bool,
    code: &mut String,
) -> Result<(), String> {
    let folded = |byte: u8| {
        if ignores_case {
            byte.to_ascii_lowercase()
        } else {
            byte
        }
    };
    let used: BTreeSet<u8> = words
        .iter()
        .flat_map(|(word, _)| word.iter().map(|byte| folded(*byte)))
        .collect();
    let class_of: BTreeMap<u8, u8> = used.iter().copied().zip(1..).collect();
    if class_of.len() != used.len() || words.iter().any(|(word, _)| word.is_empty()) {
        return Err(format!(
            "keywords `{name}`: an empty one, or too many bytes"
        ));
    }
    let mut states = vec![State::default()];
    for (word, owner) in words {
        let mut at = 0;
        for byte in word {
            let class = class_of[&folded(*byte)];
            at = if let Some(next) = states[at].children.get(&class) {
                *next
            } else {
                states.push(State::default());
                let next = states.len() - 1;
                states[at].children.insert(class, next);
                next
            };
        }
        states[at].owners.insert(*owner);
    }
    let order = link(&mut states);
    let (places, width) = lay_out(&states, &order);
    let mut sets: BTreeMap<BTreeSet<u16>, usize> = BTreeMap::from([(BTreeSet::new(), 0)]);
    let mut slots = vec![(0_usize, usize::MAX, 0_usize, 0_usize); width];
    for (number, state) in states.iter().enumerate() {
        let next = sets.len();
        let set = *sets.entry(state.owners.clone()).or_insert(next);
        let (slot, base) = places[number];
        slots[slot] = (base, slots[slot].1, places[state.fail].0, set);
        for child in state.children.values() {
            slots[places[*child].0].1 = slot;
        }
    }
    let classes: Vec<u8> = (0..=255)
        .map(|byte| class_of.get(&folded(byte)).copied().unwrap_or(0))
        .collect();
    writeln!(
        code,
        "pub(super) static {name}: Keywords = Keywords::new(&{classes:?}, &["
    )
    .unwrap();
    for (base, check, fail, set) in slots {
        let check = u32::try_from(check).unwrap_or(u32::MAX);
        writeln!(code, "Slot::new({base}, {check}, {fail}, {set}),").unwrap();
    }
    writeln!(code, "], &[").unwrap();
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by_key(|(_, number)| *number);
    for (owners, _) in sets {
        writeln!(code, "&{:?},", owners.into_iter().collect::<Vec<_>>()).unwrap();
    }
    writeln!(code, "]);").unwrap();
    Ok(())
}

/// Finds for each state the longest other one that its text ends in. Returns the states, shorter texts first.
fn link(states: &mut [State]) -> Vec<usize> {
    let mut order = vec![0];
    let mut queue: VecDeque<usize> = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        for (class, child) in states[at].children.clone() {
            let mut fail = states[at].fail;
            let fail = loop {
                match states[fail].children.get(&class) {
                    Some(next) if *next != child => break *next,
                    Some(_) | None if fail == 0 => break 0,
                    Some(_) | None => fail = states[fail].fail,
                }
            };
            states[child].fail = fail;
            let inherited = states[fail].owners.clone();
            states[child].owners.extend(inherited);
            order.push(child);
            queue.push_back(child);
        }
    }
    order
}

/// Gives each state a slot, so that the slot of a child is the base of its parent plus its class. Returns slot and
/// base of each state, and the number of slots.
fn lay_out(states: &[State], order: &[usize]) -> (Vec<(usize, usize)>, usize) {
    const CLASSES: usize = 257;
    let mut places = vec![(0, 0); states.len()];
    let mut taken = vec![true];
    let mut free_from = 1;
    for number in order {
        let classes: Vec<usize> = states[*number]
            .children
            .keys()
            .map(|class| usize::from(*class))
            .collect();
        let Some(least) = classes.first() else {
            continue;
        };
        while taken.get(free_from).copied().unwrap_or(false) {
            free_from += 1;
        }
        let mut base = free_from.saturating_sub(*least);
        while classes
            .iter()
            .any(|class| base + class == 0 || taken.get(base + class).copied().unwrap_or(false))
        {
            base += 1;
        }
        places[*number].1 = base;
        for (class, child) in &states[*number].children {
            let slot = base + usize::from(*class);
            if taken.len() <= slot {
                taken.resize(slot + 1, false);
            }
            taken[slot] = true;
            places[*child].0 = slot;
        }
    }
    // Every class of every state leads to a slot, if only to an empty one.
    (places, taken.len() + CLASSES)
}
