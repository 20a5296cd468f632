"""Cuts texts into the teacher's pieces, which know capital letters, and puts pieces together to texts again.

The product's pieces are small letters only (crates/crisis/src/pieces.rs); a teacher that sees more is a better one.
"""

import unicodedata

UNKNOWN = "[UNK]"
WORD_MAX = 100


def is_ideograph(letter):
    return any(low <= ord(letter) <= high for low, high in ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)))


def is_mark(letter):
    return unicodedata.category(letter)[0] == "P" or letter in "$+<=>^`|~"


def words(text):
    """Returns words and marks, and whether a blank stands before each."""
    found, word, is_apart = [], "", False

    def end():
        nonlocal word, is_apart
        if word:
            found.append((word, is_apart))
            word, is_apart = "", False

    for letter in text:
        if letter.isspace():
            end()
            is_apart = True
        elif is_ideograph(letter) or is_mark(letter):
            end()
            word = letter
            end()
        elif unicodedata.category(letter)[0] != "C":
            word += letter
    end()
    return found


class Pieces:
    def __init__(self, pieces):
        self.pieces = pieces
        self.numbers = {it: index for index, it in enumerate(pieces)}
        self.known = {}

    def of_word(self, word):
        """Returns the numbers of a word's pieces and what each stands for."""
        if word in self.known:
            return self.known[word]
        found, start = [], 0
        while start < len(word) <= WORD_MAX:
            ends = range(len(word), start, -1)
            begin = "##" if start else ""
            end = next((it for it in ends if begin + word[start:it] in self.numbers), None)
            if end is None:
                break
            found.append((self.numbers[begin + word[start:end]], word[start:end], bool(start)))
            start = end
        if start < len(word):
            found = [(self.numbers[UNKNOWN], word, False)]
        self.known[word] = found
        return found

    def of(self, text):
        """Returns numbers, letters, and whether a blank stands before each piece."""
        numbers, letters, apart = [], [], []
        for word, is_apart in words(text):
            for number, some, is_later in self.of_word(word):
                numbers.append(number)
                letters.append(some)
                apart.append(is_apart and not is_later)
        return numbers, letters, apart

    def rewritten(self, letters, apart, before, after):
        """Returns a text some of whose pieces were replaced: `before` and `after` are their numbers."""
        out = []
        for some, is_apart, old, new in zip(letters, apart, before, after):
            if old == new:
                out.append(" " + some if is_apart else some)
            elif self.pieces[new].startswith("##"):
                out.append(self.pieces[new][2:])
            else:
                # Where the end of a word stood, a word of its own stands now.
                is_later = self.pieces[old].startswith("##")
                out.append(" " + self.pieces[new] if is_apart or is_later else self.pieces[new])
        return "".join(out).strip()
