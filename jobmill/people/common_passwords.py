"""Passwords that attackers try first.

The list is our own: words, names and keyboard walks that lead the published rankings of leaked passwords,
written by hand and kept short. Rules cover their variants: case, digits for letters, what is put before or
after a word, words and characters that are repeated, and sequences.
"""

from __future__ import annotations

import re

_LIST = """
    aaaaaa abc abcabc abcd abcdef abcdefg access account adidas admin administrator adobe alexander amanda
    america andrea andrew angel angela animal anthony apple applepie arsenal asdf asdfasdf asdfgh asdfghjkl
    asdfghjkl; ashley asshole austin avengers azerty azertyuiop babygirl bailey banana barcelona baseball
    basketball batman beautiful benjamin bigdaddy biteme blessed blink brandon brandy butterfly buster
    california carolina changeit changeme changemenow changethis charlie cheese chelsea chicago chicken
    chocolate christian christopher classic cleopatra computer concrete cookie correcthorsebatterystaple
    corvette cowboys creative customer dallas daniel database default demo dexter diamond dolphin donald
    dontforget dragon eagles einstein elephant elizabeth eminem enter everton facebook family fender
    ferrari fireball firefly flower football forever freedom friends fuckoff fuckyou gandalf garfield george
    georgia gibson ginger godisgood godzilla google guest hannah harley harrypotter heather hello helloworld
    hiring hockey hottie hunter iamgod ihateyou iloveyou iloveyousomuch internet isabella jackson jasmine
    jasper jennifer jesus jesuschrist jessica jobmill jobs jonathan jordan joseph joshua justin killer
    kimberly knight kristina lakers letmein letmeinnow letmeinplease liverpool login london love loveme
    lovely lovelove loveyou maggie manchester manchesterunited manager marina market martin master matrix
    matthew maverick mercedes merlin metallica michael michelle mickey midnight minecraft money monkey monster
    mother motorola mountain mustang mynameis mypassword naruto nascar natasha newpassword newyork nicholas
    nicole nintendo nopassword nothing november office oliver online orange p package pass passcode passphrase
    passport passwd password passwort patrick peanut pepper phoenix pokemon porsche portugal postgres
    princess private purple q qazwsx qazwsxedc qazwsxedcrfv qwe qweasd qweasdzxc qwer qwert qwerty qwertyui
    qwertyuiop qwertz qwertzuiop rachel rainbow ranger realmadrid recruiter rebecca remember richard robert
    robin rockyou ronaldo root rosebud samantha samsung scooter secret secretpassword secure security sebastian
    server shadow shannon sheffield silver simpson skywalker slipknot snoopy snowball soccer softball sophie
    spiderman spring starwars steelers stephanie success summer sunflower sunshine superman superuser support
    sweetheart sweety system tacobell taylor teamo temp temporary tennis test tester testing testpassword thomas
    thunder tigger tinkerbell trustme trustno tucker tweety twilight unicorn united unknown user username
    vanessa veronica victoria viking walmart welcome welcomeback whatever william windows winner winter
    wizard wolverine wordpass xbox yamaha yankees yellow yourpassword zaq zaqxsw zaqwsx zxc zxcv zxcvbn
    zxcvbnm
"""
WORDS = frozenset(_LIST.split())

SEQUENCES = (
    "01234567890123456789",
    "98765432109876543210",
    "abcdefghijklmnopqrstuvwxyz",
    "zyxwvutsrqponmlkjihgfedcba",
    "qwertyuiopasdfghjklzxcvbnm",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "!@#$%^&*()",
)

LETTERS_FOR = str.maketrans("0134578@$!", "oieastbasi")
"""Digits and signs as people write them for letters."""
REPEATED = re.compile(r"(.{1,8}?)\1+(.{0,2})")
NOT_LETTERS = re.compile(r"^[\W\d_]+|[\W\d_]+$")


def is_common(password: str) -> bool:
    """Whether a short list of words and rules guesses this password."""
    typed = password.lower()
    core = NOT_LETTERS.sub("", typed)
    variants = (typed, typed.translate(LETTERS_FOR), core.translate(LETTERS_FOR))
    return _is_simple(typed) or any(map(_is_listed, variants))


def _is_simple(typed: str) -> bool:
    """One or two characters, repetition of few characters, or a walk along a sequence."""
    if len(set(typed)) <= 2 or any(typed in sequence for sequence in SEQUENCES):
        return True
    repeated = REPEATED.fullmatch(typed)
    return bool(repeated) and (len(repeated[1]) <= 4 or _is_listed(repeated[1]))


def _is_listed(typed: str) -> bool:
    words = {typed, NOT_LETTERS.sub("", typed), re.sub(r"[\W\d_]", "", typed)}
    return any(word in WORDS or _is_two_words(word) for word in words if word)


def _is_two_words(word: str) -> bool:
    """Two listed words one after the other, such as passwordadmin."""
    return any(word[:at] in WORDS and word[at:] in WORDS for at in range(3, len(word) - 2))
