"""Formulas in TeX as text that can be read in a terminal: `\\frac{a}{b}` is a/b, `x^2` is x²."""

import re

_NAMES = (
    "alpha=α beta=β gamma=γ delta=δ epsilon=ε varepsilon=ε zeta=ζ eta=η theta=θ iota=ι kappa=κ "
    "lambda=λ mu=μ nu=ν xi=ξ pi=π rho=ρ sigma=σ tau=τ upsilon=υ phi=φ varphi=φ chi=χ psi=ψ omega=ω "
    "Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π Sigma=Σ Phi=Φ Psi=Ψ Omega=Ω infty=∞ partial=∂ "
    "nabla=∇ int=∫ iint=∬ oint=∮ sum=∑ prod=∏ cdot=· times=× div=÷ pm=± mp=∓ leq=≤ le=≤ geq=≥ ge=≥ "
    "neq=≠ ne=≠ approx=≈ equiv=≡ sim=∼ propto=∝ in=∈ notin=∉ subset=⊂ subseteq=⊆ supset=⊃ cup=∪ "
    "cap=∩ emptyset=∅ forall=∀ exists=∃ neg=¬ land=∧ wedge=∧ lor=∨ vee=∨ to=→ rightarrow=→ "
    "leftarrow=← Rightarrow=⇒ implies=⇒ Leftrightarrow=⇔ iff=⇔ mapsto=↦ ldots=… dots=… cdots=⋯ "
    "circ=∘ ast=∗ star=⋆ oplus=⊕ otimes=⊗ perp=⊥ parallel=∥ angle=∠ degree=° prime=′ hbar=ℏ ell=ℓ "
    "langle=⟨ rangle=⟩ lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉ mid=| vert=| Vert=‖"
)
_SIGNS = dict(each.split("=") for each in _NAMES.split(" "))
_EMPTY = frozenset(
    {"left", "right", "big", "Big", "bigg", "displaystyle", "limits", "quad", "qquad"}
)
_AROUND = {
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
    "matrix": ("(", ")"),
    "smallmatrix": ("(", ")"),
    "cases": ("{ ", ""),
}
"""The delimiters around the rows of an environment, by its name."""
_LOOKS = ("text", "math", "operatorname", "bold", "rm", "bf")
"""How letters look, which a terminal does not show."""
_HIGH = dict(zip("0123456789+-=()nixabcT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣᵃᵇᶜᵀ", strict=True))
_LOW = dict(zip("0123456789+-=()ijnkxaem", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ᵢⱼₙₖₓₐₑₘ", strict=True))

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_ATOM = re.compile(r"\w+|√\w+|.", re.DOTALL)

DEEPEST = 20
MAX_FORMULA_LENGTH = 2_000
"""The maximum number of characters; a longer formula stays as it is."""


def readable(tex: str) -> str:
    if len(tex) > MAX_FORMULA_LENGTH or tex.count("{") > 10 * DEEPEST:
        return tex
    text = _Reader(_TOKEN.findall(tex)).read("", 0)
    text = re.sub(r"[ \t]+", " ", text)
    return re.sub(r"(?<=[(\[]) | (?=[)\];\n])|(?<=\n) ", "", text).strip()


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._inside: list[str] = []
        """Environments that have begun."""

    def read(self, until: str, depth: int) -> str:
        text = ""
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token == until:
                self._at += 1
                break
            text += self._next(depth)
        return text

    def _next(self, depth: int) -> str:
        """Return the text of the next token, with its arguments."""
        if self._at >= len(self._tokens) or depth > DEEPEST:
            self._at = len(self._tokens) if depth > DEEPEST else self._at
            return ""
        token = self._tokens[self._at]
        self._at += 1
        match token:
            case "{":
                return self.read("}", depth + 1)
            case "&":
                return " "
            case "}":
                return ""
            case "^":
                return _raised(self._next(depth + 1), _HIGH, "^")
            case "_":
                return _raised(self._next(depth + 1), _LOW, "_")
            case "\\frac" | "\\dfrac" | "\\tfrac":
                return f"{_held(self._next(depth + 1))}/{_held(self._next(depth + 1))}"
            case "\\sqrt":
                degree = self._optional(depth)
                power = _raised(degree, _HIGH, "") if degree else ""
                return f"{power}√{_held(self._next(depth + 1))}"
            case "\\binom" | "\\dbinom" | "\\tbinom":
                return f"({self._next(depth + 1)} choose {self._next(depth + 1)})"
            case "\\\\":
                return "; " if self._inside and self._inside[-1] in _AROUND else "\n"
        return self._named(token[1:], depth) if token.startswith("\\") else token

    def _named(self, name: str, depth: int) -> str:
        if not name.isalpha():
            return name if name in "{}$%&#_|" else " "
        if name in ("begin", "end"):
            return self._environment(name, self._next(depth + 1).strip("*"), depth)
        if name in _EMPTY or name.startswith(_LOOKS):
            return ""
        if name in _SIGNS or self._tokens[self._at : self._at + 1] != ["{"]:
            return _SIGNS.get(name, name)
        return f"{name}({self._next(depth + 1)})"

    def _environment(self, name: str, which: str, depth: int) -> str:
        before, after = _AROUND.get(which, ("", ""))
        if name == "end":
            self._inside = self._inside[:-1]
            return after
        self._inside.append(which)
        if which in ("array", "tabular"):
            self._next(depth + 1)  # how its columns stand
        return before

    def _optional(self, depth: int) -> str:
        """Return an optional argument in square brackets, or "" if there is none here."""
        if self._tokens[self._at : self._at + 1] != ["["]:
            return ""
        self._at += 1
        return self.read("]", depth + 1)


def _raised(text: str, letters: dict[str, str], sign: str) -> str:
    bare = text.strip()
    if bare and all(letter in letters for letter in bare):
        return "".join(letters[letter] for letter in bare)
    return f"{sign}{_held(bare)}"


def _held(text: str) -> str:
    """Put the text into brackets, unless it is a single term."""
    bare = text.strip()
    return bare if _ATOM.fullmatch(bare) else f"({bare})"
