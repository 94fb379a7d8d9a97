"""What an audit is to look at most: free words, understood without a model.

Words are compared without case, accents and plural endings; synonyms in English and Spanish
are one concept. A focus narrows the report to the findings that any of its concepts touches.
It never hides a critical finding, and a focus that touches nothing hides nothing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vfa.audit.findings import Finding

# One line a concept. Words of the rules' ids are among them, so that a synonym finds a rule.
CONCEPTS = """
form field input validation label formulario campo validacion etiqueta
checkout payment pay purchase order cart basket billing pago pagar compra pedido carrito cesta
login signin account session password auth register signup sesion cuenta contrasena registro
search find filter sort busqueda buscar filtro ordenar
navigation menu nav link href navegacion enlace vinculo
button control cta click boton clic pulsar
image picture photo img alt imagen foto ilustracion
text font typography heading title texto letra fuente titulo encabezado
contrast colour color legibility contraste legibilidad
accessibility a11y wcag aria reader keyboard accesibilidad lector teclado
performance speed slow lcp cls vital load fast rendimiento velocidad lento carga rapido
layout responsive overflow mobile phone viewport zoom diseno maquetacion movil desbordamiento
network request api http backend server status redirect json red peticion servidor redireccion
error exception javascript console crash rejection excepcion consola fallo
security https mixed insecure seguridad inseguro
visual appearance look distorted clipped apariencia aspecto
functional function behaviour behavior dead work funcional funcion comportamiento
home landing inicio portada
product catalog list item producto catalogo listado articulo
help faq contact support ayuda contacto soporte
language lang translation idioma traduccion
cache caching compression compress gzip size weight compresion peso
"""
# Words that say nothing about what to look at.
EMPTY = """
a an and any are as at be by check for from in into is it of on or our please site that the this
to with website audit test verify look especially focus page broken wrong
al con de del el en es la las lo los para por que se sin sobre su un una y o revisa revisar
comprueba comprobar verifica verificar sitio web pagina auditoria prueba especialmente roto rota
"""
WORD = re.compile(r"[a-z0-9]+")
# Where a word says most about what a finding is about.
RULE_WEIGHT, PLACE_WEIGHT, PROSE_WEIGHT = 3, 2, 1


class Focus:
    """A focus text, ready to be compared with findings."""

    def __init__(self, text: str) -> None:
        stems = dict.fromkeys(stem for stem in words(text) if stem not in _EMPTY)
        self.concepts = tuple(dict.fromkeys(_concept(stem) for stem in stems))

    def relevance(self, finding: Finding) -> int:
        """Return how much of ``finding`` the focus touches; 0: nothing."""
        rule = words(f"{finding.rule} {finding.category}")
        place = words(f"{finding.title} {finding.page_url} {finding.selector_hint or ''}")
        prose = words(f"{finding.description} {finding.evidence.html}")
        return sum(
            max(
                RULE_WEIGHT * bool(concept & rule),
                PLACE_WEIGHT * bool(concept & place),
                PROSE_WEIGHT * bool(concept & prose),
            )
            for concept in self.concepts
        )

    def narrow(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings the focus touches, and critical ones whatever they touch."""
        everything = list(findings)
        touched = [finding for finding in everything if self.relevance(finding)]
        if not touched:
            return everything
        return [one for one in everything if one.severity == "critical" or one in touched]


def words(text: str) -> frozenset[str]:
    """Return the stems of the words in ``text``: no case, no accents, no plural."""
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return frozenset(_stem(word) for word in WORD.findall(plain))


def _stem(word: str) -> str:
    """Drop a plural and a last e: image and images, imagen and imágenes meet."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _concept(stem: str) -> frozenset[str]:
    """Return the stem with its synonyms, or by itself where it has none."""
    return next((concept for concept in _STEMMED if stem in concept), frozenset({stem}))


_STEMMED = tuple(words(line) for line in CONCEPTS.strip().splitlines())
_EMPTY = words(EMPTY)
