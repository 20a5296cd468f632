//! Random bytes for ids, salts and secrets.

/// Bytes of randomness that are fetched at once for ids and salts.
const RANDOM_BYTES: usize = 1024;

thread_local! {
    static RANDOM: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Returns bytes for an id or a salt, which cannot be guessed but are no secret: asking the kernel
/// for each takes longer than all else that is done with them.
pub(crate) fn random_id<const N: usize>() -> [u8; N] {
    RANDOM.with_borrow_mut(|store| {
        if store.len() < N {
            *store = random::<RANDOM_BYTES>().to_vec();
        }
        let rest = store.split_off(store.len().saturating_sub(N));
        rest.try_into().unwrap_or_else(|_| random())
    })
}

/// Returns bytes that cannot be guessed.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without randomness ids could be guessed and tokens would not be unique; there is no safe way
    // on, and no machine on which this happens.
    #[expect(clippy::expect_used, reason = "the kernel always has randomness")]
    getrandom::fill(&mut bytes).expect("the kernel has randomness");
    bytes
}
