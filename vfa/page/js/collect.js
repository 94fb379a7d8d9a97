// Collects the evidence of a page in one pass and returns it as one value: the struct `Facts`
// of vfa/audit/evidence.py, whose field names the keys here are.
//
// `limits` may hold a cap for each list by its name; what a cap cut off is counted in `omitted`.
// Reads only: nothing is added to the page, no element is created in it, nothing scrolls.
// Enters open shadow roots; frames are seen from outside. Layout is computed once, since
// nothing here writes.
(limits) => {
  const started = performance.now();
  const CAPS = {
    controls: 500,
    fields: 300,
    labels: 300,
    links: 1500,
    images: 400,
    headings: 200,
    landmarks: 60,
    frames: 60,
    forms: 60,
    texts: 200,
    clipped: 100,
    wide: 20,
    resources: 400,
    ...limits,
  };
  const SHORT_TEXT = 80;
  const HTML_LIMIT = 300;
  const FIELD =
    "input:not([type=hidden],[type=submit],[type=button],[type=reset],[type=image]),select,textarea";
  const root = document.documentElement;
  const view = { width: root.clientWidth, height: root.clientHeight };
  if (document.compatMode === "BackCompat" && document.body) {
    view.width = document.body.clientWidth;
    view.height = document.body.clientHeight;
  }
  const left = window.scrollX;
  const top = window.scrollY;
  const round = (number) => Math.round(number * 10) / 10;
  const line = (text, limit = SHORT_TEXT) =>
    (text ?? "")
      .slice(0, limit * 4)
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, limit);

  // --- colours ---------------------------------------------------------------------------

  let brush = null;
  const colours = new Map();
  // [r, g, b, alpha] of a computed colour in any notation; null if it cannot be read.
  const colour = (css) => {
    let value = colours.get(css);
    if (value !== undefined) return value;
    const plain = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(css);
    if (plain) {
      value = [+plain[1], +plain[2], +plain[3], plain[4] === undefined ? 1 : +plain[4]];
    } else {
      brush ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = css;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      value = [r, g, b, a / 255];
    }
    colours.set(css, value);
    return value;
  };
  const blend = (under, over, alpha) =>
    under.map((part, index) => part + (over[index] - part) * alpha);
  // What reaches the eye of a colour painted inside nested groups of less than full opacity.
  const through = (group, local) => {
    let seen = local;
    for (let outer = group; outer; outer = outer.parent) {
      if (!outer.backdrop) return null;
      seen = blend(outer.backdrop, seen, outer.opacity);
    }
    return seen.map(Math.round);
  };

  // --- selectors -------------------------------------------------------------------------

  const READABLE = ["data-testid", "data-test", "data-test-id", "data-cy", "data-qa"];
  const SPOKEN = ["name", "aria-label", "href", "alt", "placeholder", "for", "title", "src"];
  const seen = new Map(); // simple selector -> elements that match it, as far as we walked
  const labelsFor = new Map(); // id -> labels whose `for` names it, as far as we walked
  const note = (key) => seen.set(key, (seen.get(key) ?? 0) + 1);
  const readableClass = (name) =>
    !/\d{3,}|^(css|sc|jsx)-|[_-][A-Za-z0-9]*\d[A-Za-z0-9]*[A-Z]|^_|:|^(is|has)-/.test(name) &&
    name.length < 40;
  const readableId = (id) => id !== "" && id.length < 50 && !/\d{4,}|^:|:$|[0-9a-f]{8}-/.test(id);
  const quoted = (value) => `'${value.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}'`;
  const byAttribute = (element, name) => {
    const value = element.getAttribute(name);
    if (!value || value.length > 60 || /[\n\r]/.test(value)) return "";
    return `${element.localName}[${name}=${quoted(value)}]`;
  };
  const simple = (element) => {
    const found = READABLE.map((name) => byAttribute(element, name));
    if (readableId(element.id)) found.push(`#${CSS.escape(element.id)}`);
    found.push(...SPOKEN.map((name) => byAttribute(element, name)));
    for (const name of element.classList) {
      if (readableClass(name)) found.push(`${element.localName}.${CSS.escape(name)}`);
    }
    found.push(CSS.escape(element.localName));
    return found.filter(Boolean);
  };
  const index = (element) => {
    for (const key of simple(element)) note(key);
    if (element.localName === "label" && element.htmlFor !== "") {
      if (!labelsFor.has(element.htmlFor)) labelsFor.set(element.htmlFor, []);
      labelsFor.get(element.htmlFor).push(element);
    }
  };
  // As `element.labels`, which searches the whole document each time it is asked.
  const labelsOf = (element) => {
    const near = element.closest("label");
    const labels = element.id === "" ? [] : (labelsFor.get(element.id) ?? []);
    return [near, ...labels.filter((label) => label !== near)].filter(
      (label) => label?.control === element,
    );
  };
  // Counts of simple selectors are exact for the document, whose every element is counted. In
  // shadow roots, and where quirks mode ignores the case of names, the browser has the last word.
  const counted = document.compatMode === "CSS1Compat";
  const alone = (key, scope, element) =>
    seen.get(key) === 1 && ((counted && scope === document) || only(scope, key, element));
  const only = (scope, selector, element) => {
    try {
      const matches = scope.querySelectorAll(selector);
      return matches.length === 1 && matches[0] === element;
    } catch {
      return false;
    }
  };
  // Where each child stands among those of its tag; once for a parent, who may have thousands.
  const families = new Map();
  const familyOf = (parent) => {
    let family = families.get(parent);
    if (family === undefined) {
      family = { places: new Map(), totals: new Map() };
      for (const child of parent?.children ?? []) {
        const place = (family.totals.get(child.localName) ?? 0) + 1;
        family.totals.set(child.localName, place);
        family.places.set(child, place);
      }
      families.set(parent, family);
    }
    return family;
  };
  const step = (element) => {
    const tag = CSS.escape(element.localName);
    const { places, totals } = familyOf(element.parentNode);
    return totals.get(element.localName) > 1 ? `${tag}:nth-of-type(${places.get(element)})` : tag;
  };
  const LARGE = 5000; // elements; from here on, trying out shorter selectors takes too long
  const path = (element, scope) => {
    const steps = [];
    for (let at = element; at && at !== scope; at = at.parentElement) {
      if (at !== element) {
        const anchor = simple(at).find((key) => alone(key, scope, at));
        if (anchor) {
          if (at.getElementsByTagName(element.localName).length === 1)
            return `${anchor} ${CSS.escape(element.localName)}`;
          const brief = `${anchor} ${steps.slice(0, 2).reverse().join(" > ")}`;
          if (steps.length > 2 && facts.elements < LARGE && only(scope, brief, element))
            return brief;
          return `${anchor} > ${steps.reverse().join(" > ")}`;
        }
      }
      steps.push(step(at));
    }
    return steps.reverse().join(" > ");
  };
  const selectors = new Map();
  const selector = (element) => {
    let found = selectors.get(element);
    if (found !== undefined) return found;
    const scope = element.getRootNode();
    found = simple(element).find((key) => alone(key, scope, element)) ?? path(element, scope);
    if (scope instanceof ShadowRoot) found = `${selector(scope.host)} >>> ${found}`;
    selectors.set(element, found);
    return found;
  };

  // --- describing an element ---------------------------------------------------------------

  const opening = (element) => {
    let html = `<${element.localName}`;
    for (const { name, value } of element.attributes) {
      html +=
        value === ""
          ? ` ${name}`
          : ` ${name}="${value.length > 100 ? `${value.slice(0, 97)}…` : value}"`;
      if (html.length > HTML_LIMIT) break;
    }
    html += `>${line(element.textContent, 60)}`;
    return html.length > HTML_LIMIT ? `${html.slice(0, HTML_LIMIT - 1)}…` : html;
  };
  const STATE_CLASS =
    /^(active|current|selected|open|first|last|odd|even|hover|focus|disabled|show|in|is-.*|has-.*)$/;
  const kindOf = (element) => {
    const classes = [...element.classList]
      .filter((name) => !STATE_CLASS.test(name))
      .map((name) => name.replace(/\d+/g, "N"));
    return [element.localName, ...classes.slice(0, 4)].join(".");
  };
  const shape = (element) => {
    const parts = [];
    for (let at = element; at && parts.length < 3; at = at.parentElement) parts.unshift(kindOf(at));
    return parts.join(" > ");
  };
  const PLAIN_ROLES = {
    a: "link",
    button: "button",
    select: "combobox",
    textarea: "textbox",
    img: "image",
    iframe: "Iframe",
    nav: "navigation",
    main: "main",
    header: "banner",
    footer: "contentinfo",
    aside: "complementary",
    form: "form",
    summary: "DisclosureTriangle",
  };
  const INPUT_ROLES = {
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    submit: "button",
    button: "button",
    reset: "button",
    image: "button",
  };
  // Chromium computes role and name from its accessibility tree. The first reads build it; later
  // ones are quick as long as somebody keeps it alive (Accessibility.enable and getRootAXNode do).
  // Where nobody does, each read builds it anew, 50 ms on 4,000 elements: after this long in all,
  // the markup has to do, and `omitted.computed` says how often it had to.
  const COMPUTED_BUDGET_MS = 2000;
  const FIRST_READS = 2;
  const computed = { reads: 0, spent: 0, plain: 0 };
  const ask = (element, property) => {
    if (!(property in Element.prototype)) return undefined;
    if (computed.spent > COMPUTED_BUDGET_MS) {
      computed.plain += 1;
      return undefined;
    }
    const asked = performance.now();
    const answer = element[property] ?? "";
    computed.reads += 1;
    if (computed.reads > FIRST_READS) computed.spent += performance.now() - asked;
    return answer;
  };
  const roleOf = (element) => {
    const answer = ask(element, "computedRole");
    if (answer !== undefined) return answer;
    const given = element.getAttribute("role");
    if (given) return given.trim().split(/\s+/)[0];
    if (/^h[1-6]$/.test(element.localName)) return "heading";
    if (element.localName === "input") return INPUT_ROLES[element.type] ?? "textbox";
    return PLAIN_ROLES[element.localName] ?? "generic";
  };
  const textOfIds = (element, ids) =>
    ids
      .split(/\s+/)
      .map((id) => element.getRootNode().getElementById?.(id)?.textContent ?? "")
      .join(" ");
  // Only for a browser that was started without the computed accessibility properties.
  const plainName = (element) => {
    const labelledBy = element.getAttribute("aria-labelledby");
    const choices = [
      labelledBy && textOfIds(element, labelledBy),
      element.getAttribute("aria-label"),
      element.getAttribute("alt"),
      labelsOf(element)
        .map((label) => label.textContent)
        .join(" "),
      /^(button|submit|reset)$/.test(element.type ?? "") && element.localName === "input"
        ? element.value || element.type
        : "",
      /^(input|select|textarea|img|iframe)$/.test(element.localName) ? "" : element.textContent,
      [...element.querySelectorAll("img[alt],svg title")]
        .map((inner) => inner.getAttribute("alt") ?? inner.textContent)
        .join(" "),
      element.getAttribute("title"),
      element.getAttribute("placeholder"),
    ];
    return choices.map((choice) => line(choice || "", 200)).find(Boolean) ?? "";
  };
  const names = new Map();
  const nameOf = (element) => {
    let name = names.get(element);
    if (name === undefined) {
      const answer = ask(element, "computedName");
      name = answer === undefined ? plainName(element) : line(answer, 200);
      names.set(element, name);
    }
    return name;
  };
  // Cheap, and good enough to decide what is kept first where a list overflows.
  const looksNameless = (element) =>
    line(element.textContent) === "" &&
    !element.hasAttribute("aria-label") &&
    labelsOf(element).length === 0 &&
    nameOf(element) === "";
  const boxOf = (rect) => ({
    x: round(rect.left + left),
    y: round(rect.top + top),
    width: round(rect.width),
    height: round(rect.height),
  });
  const describe = (seenAs) => ({
    selector: selector(seenAs.element),
    tag: seenAs.element.localName,
    role: seenAs.named === false ? "" : roleOf(seenAs.element),
    name: seenAs.named === false ? "" : nameOf(seenAs.element),
    box: boxOf(seenAs.rect),
    html: opening(seenAs.element),
    shape: shape(seenAs.element),
    visible: seenAs.visible,
    exposed: seenAs.exposed,
  });

  // --- lists with caps -----------------------------------------------------------------------

  const lists = Object.fromEntries(Object.keys(CAPS).map((kind) => [kind, []]));
  let order = 0;
  // Entries whose `suspect` says so are kept first when there are more than the cap allows.
  const keep = (kind, suspect, make) => lists[kind].push({ suspect, order: order++, make });
  const close = () => {
    const facts = {};
    const omitted = {};
    for (const [kind, entries] of Object.entries(lists)) {
      let kept = entries;
      if (entries.length > CAPS[kind]) {
        omitted[kind] = entries.length - CAPS[kind];
        for (const entry of entries) entry.first = entry.suspect();
        kept = [...entries]
          .sort((a, b) => b.first - a.first || a.order - b.order)
          .slice(0, CAPS[kind]);
        kept.sort((a, b) => a.order - b.order);
      }
      facts[kind] = kept.map((entry) => entry.make());
    }
    if (computed.plain > 0) omitted.computed = computed.plain;
    return { ...facts, omitted };
  };

  // --- what an element is ----------------------------------------------------------------------

  const WIDGETS = new Set([
    "button",
    "link",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "textbox",
    "combobox",
    "searchbox",
    "slider",
    "spinbutton",
    "listbox",
    "treeitem",
  ]);
  const FIELD_ROLES = new Set([
    "checkbox",
    "radio",
    "switch",
    "textbox",
    "combobox",
    "searchbox",
    "slider",
    "spinbutton",
    "listbox",
  ]);
  const LANDMARKS = new Set(["main", "nav", "header", "footer", "aside"]);
  const LANDMARK_ROLES = new Set([
    "main",
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "region",
    "form",
  ]);
  const MEDIA = new Set(["img", "canvas", "video", "iframe", "svg", "object", "embed"]);
  const LEAVES = new Set([
    "svg",
    "select",
    "textarea",
    "iframe",
    "object",
    "canvas",
    "video",
    "audio",
    "script",
    "style",
    "template",
    "noscript",
    "math",
    "datalist",
  ]);
  const SCRIPTED =
    /^(on|ng-|v-on|@|x-on|hx-|wire:|phx-|jsaction|data-(bs-)?(toggle|target|action|dismiss|slide|controller|method|remote|modal|trigger|click|scroll|fancybox|lightbox|confirm))/;
  const DANGER = new RegExp(
    "(?<![\\p{L}])(buy|purchase|pay|payment|order now|place (my |your |the )?order|checkout now|complete order|donate|subscribe|unsubscribe|delete|remove|erase|destroy|discard|deactivate|close account|cancel (order|subscription|account)|" +
      "send|submit|post|publish|share|invite|transfer|withdraw|confirm|approve|reject|sign ?out|log ?out|log ?off|upload|import|" +
      "comprar|compra ahora|pagar|pago|realizar pedido|tramitar pedido|finalizar (compra|pedido)|donar|suscribir(se|me)?|eliminar|borrar|suprimir|quitar|vaciar|desactivar|dar de baja|cancelar (pedido|suscripción|cuenta)|" +
      "enviar|mandar|publicar|compartir|invitar|transferir|retirar|confirmar|aprobar|rechazar|cerrar (la )?sesi[oó]n|salir|desconectar(se)?|subir|cargar archivo|importar)(?![\\p{L}])",
    "iu",
  );
  const DANGER_URL =
    /^(mailto|tel|sms):|(^|[/?&=_-])(log-?out|sign-?out|logoff|delete|remove|destroy|unsubscribe|checkout|pay|cerrar-sesion|eliminar|borrar)([/?&=_.-]|$)/i;
  const EMPTY_SCRIPT = /^\s*javascript:/i;

  const submits = (element) => {
    const form = element.form;
    if (!form) return false;
    if (element.localName === "button") return element.type === "submit";
    return element.localName === "input" && (element.type === "submit" || element.type === "image");
  };
  const dangerous = (element) => {
    const words = [
      nameOf(element),
      line(element.textContent),
      element.value ?? "",
      element.title ?? "",
    ].join(" ");
    if (DANGER.test(String(words))) return true;
    if (element.type === "file" || element.hasAttribute("download")) return true;
    const href = element.getAttribute("href") ?? element.getAttribute("formaction") ?? "";
    return (
      DANGER_URL.test(href) ||
      (submits(element) && DANGER_URL.test(element.form.getAttribute("action") ?? ""))
    );
  };
  const stateOf = (element) => {
    const current = element.getAttribute("aria-current");
    if (current !== null && current !== "false") return "current";
    for (const state of ["selected", "checked", "pressed"]) {
      if (element.getAttribute(`aria-${state}`) === "true") return state;
    }
    return element.checked === true ? "checked" : "";
  };

  // --- covers --------------------------------------------------------------------------------

  const parentOf = (node) => node.assignedSlot ?? node.parentNode ?? node.host ?? null;
  const within = (node, ancestor) => {
    for (let at = node; at; at = parentOf(at)) if (at === ancestor) return true;
    return false;
  };
  const hit = (x, y) => {
    let found = document.elementFromPoint(x, y);
    while (found?.shadowRoot) {
      const inner = found.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  };
  const reaches = (control, found) =>
    within(found, control) ||
    within(control, found) ||
    [...(control.labels ?? [])].some((label) => within(found, label));
  const pinnedAt = (node) => {
    for (let at = node; at instanceof Element; at = parentOf(at)) {
      if (at instanceof ShadowRoot) continue;
      const position = getComputedStyle(at).position;
      if (position === "fixed" || position === "sticky") return true;
    }
    return false;
  };
  const MODAL = "dialog,[role=dialog],[role=alertdialog],[aria-modal=true]";
  const CONSENT = /cookie|consent|gdpr|privacy|onetrust|cmp-|didomi/i;
  const coverOf = (control, rect, clip) => {
    const box = [
      Math.max(rect.left, clip[0], 0),
      Math.max(rect.top, clip[1], 0),
      Math.min(rect.right, clip[2], view.width),
      Math.min(rect.bottom, clip[3], view.height),
    ];
    const width = box[2] - box[0];
    const height = box[3] - box[1];
    // A control of which less than half is on screen is judged where it can be seen.
    if (width < 3 || height < 3 || width * height < rect.width * rect.height * 0.5) return null;
    let first = null;
    for (const [fx, fy] of [
      [0.5, 0.5],
      [0.2, 0.25],
      [0.8, 0.25],
      [0.2, 0.75],
      [0.8, 0.75],
    ]) {
      const found = hit(box[0] + width * fx, box[1] + height * fy);
      if (!found || reaches(control, found)) return null;
      first ??= found;
    }
    const style = getComputedStyle(first);
    const area = first.getBoundingClientRect();
    const paints =
      colour(style.backgroundColor)?.[3] > 0.05 ||
      style.backgroundImage !== "none" ||
      line(first.textContent) !== "" ||
      MEDIA.has(first.localName);
    let consent = false;
    for (let at = first; at instanceof Element; at = parentOf(at))
      consent ||= CONSENT.test(`${at.id} ${at.getAttribute("class") ?? ""}`);
    const operable = first.closest(
      "a[href],button,input,select,textarea,label,[role=button],[role=link]",
    );
    // An invisible file input or select over its own styled button is how these are styled.
    const widget =
      operable &&
      (/^(input|select|label)$/.test(operable.localName) ||
        (operable.href && operable.href === control.href));
    const besides =
      first.parentElement === control.parentElement &&
      /^(input|select|textarea)$/.test(control.localName);
    if (widget || besides || document.querySelector(":modal") !== null) return null;
    return {
      element: first,
      modal: first.closest(MODAL) !== null || consent,
      pinned: pinnedAt(first),
      invisible: +style.opacity < 0.05 || !paints,
      interactive: operable !== null,
      share: round(
        (Math.max(0, Math.min(area.right, view.width) - Math.max(area.left, 0)) *
          Math.max(0, Math.min(area.bottom, view.height) - Math.max(area.top, 0))) /
          (view.width * view.height),
      ),
    };
  };

  // --- visiting one element ------------------------------------------------------------------

  // Everything that paints an area, by the bands of the page it touches: what text may lie over
  // unawares. Painters that touch many bands stand apart, so that each is written down once.
  const BAND = 200; // pixels
  const MANY_BANDS = 20;
  const painters = { tall: [], bands: new Map() };
  const paints = (element, rect) => {
    const first = Math.floor(rect.top / BAND);
    const last = Math.floor(rect.bottom / BAND);
    if (last - first > MANY_BANDS) {
      painters.tall.push({ element, rect });
      return;
    }
    for (let band = first; band <= last; band += 1) {
      if (!painters.bands.has(band)) painters.bands.set(band, []);
      painters.bands.get(band).push({ element, rect });
    }
  };
  const runs = []; // text with colours that came from its ancestors
  const facts = { textLength: 0, painted: 0, elements: 0 };

  const visitControl = (at, tag, role, style, state) => {
    const { element } = at;
    const native =
      tag === "button" ||
      tag === "select" ||
      tag === "textarea" ||
      tag === "summary" ||
      (tag === "a" && element.hasAttribute("href")) ||
      (tag === "input" && element.type !== "hidden");
    const widget =
      native ||
      WIDGETS.has(role) ||
      (element.isContentEditable && element.hasAttribute("contenteditable"));
    const clickable =
      !widget &&
      !state.control &&
      tag !== "label" &&
      !element.control &&
      (element.hasAttribute("onclick") ||
        (style.cursor === "pointer" && state.cursor !== "pointer")) &&
      !element.querySelector("a[href],button,input,select,textarea,label");
    const queued = element.hasAttribute("tabindex") && element.tabIndex > 0;
    if (!widget && !clickable && !queued) return false;
    const href = tag === "a" || tag === "area" ? (element.getAttribute("href") ?? "") : "";
    const enabled = !state.disabled && style.pointerEvents !== "none";
    const text = line(element.textContent);
    const acts =
      clickable ||
      tag === "button" ||
      role === "button" ||
      /^(tab|menuitem|switch)$/.test(role) ||
      (tag === "input" && /^(button|submit|reset|image)$/.test(element.type)) ||
      (tag === "a" && (href.trim() === "#" || EMPTY_SCRIPT.test(href)));
    const says = () => text !== "" || (at.exposed && nameOf(element) !== "");
    const cover =
      at.visible && enabled && !state.disabled
        ? coverOf(element, element.getClientRects()[0] ?? at.rect, state.clip)
        : null;
    const tabindex = element.hasAttribute("tabindex") ? element.tabIndex : null;
    const suspect = () => cover !== null || tabindex > 0 || (at.exposed && looksNameless(element));
    keep("controls", suspect, () => ({
      ...describe(at),
      type: element.type && typeof element.type === "string" ? element.type : "",
      href: href.slice(0, 300),
      enabled,
      focusable: native ? enabled && tabindex !== -1 : tabindex !== null && tabindex >= 0,
      tabindex,
      text,
      state: stateOf(element),
      pinned: state.pinned,
      cover: cover && {
        ...cover,
        element: undefined,
        selector: selector(cover.element),
        html: opening(cover.element),
      },
      probe: acts && enabled && at.visible && says() && stateOf(element) === "",
      danger: dangerous(element),
      submits: submits(element),
    }));
    return widget || clickable;
  };

  const namedBy = (element) => {
    if (nameOf(element) === "") return "";
    if (line(element.getAttribute("aria-label")) || element.hasAttribute("aria-labelledby"))
      return "aria";
    if (
      labelsOf(element).some(
        (label) => line(label.textContent) || label.querySelector("img[alt],[aria-label]"),
      )
    )
      return "label";
    if (line(element.getAttribute("title"))) return "title";
    if (line(element.getAttribute("placeholder"))) return "placeholder";
    return "content";
  };
  const visitField = (at, tag, role, state) => {
    const { element } = at;
    const type = tag === "input" ? element.type : tag;
    if (!(element.matches(FIELD) || (FIELD_ROLES.has(role) && tag !== "button"))) return;
    if (role && !FIELD_ROLES.has(role) && WIDGETS.has(role)) return;
    const search =
      type === "search" ||
      role === "searchbox" ||
      element.closest("[role=search],search,form[action*=search],form[action*=buscar]") !== null ||
      /^(q|query|search|s|buscar)$/i.test(element.name ?? "");
    keep(
      "fields",
      () => looksNameless(element),
      () => ({
        ...describe(at),
        type,
        named_by: namedBy(element),
        placeholder: element.getAttribute("placeholder") ?? "",
        required: element.required === true || element.getAttribute("aria-required") === "true",
        search,
        enabled: !state.disabled,
      }),
    );
  };

  // The field that a reader would take a label for: inside it, next after it, or just before it.
  const beside = (label) => {
    const inner = label.querySelector(FIELD);
    if (inner) return inner;
    for (
      let area = label.parentElement, up = 0;
      area && up < 2;
      area = area.parentElement, up += 1
    ) {
      const fields = [...area.querySelectorAll(FIELD)];
      if (fields.length === 0) continue;
      const after = fields.find(
        (field) => label.compareDocumentPosition(field) & Node.DOCUMENT_POSITION_FOLLOWING,
      );
      if (!after) return fields.length === 1 ? fields[0] : null;
      const between = [...area.querySelectorAll("label")].some(
        (other) =>
          other !== label &&
          label.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING &&
          other.compareDocumentPosition(after) & Node.DOCUMENT_POSITION_FOLLOWING,
      );
      return between ? null : after;
    }
    return null;
  };
  const visitLabel = (at) => {
    const { element } = at;
    const target = element.htmlFor;
    const near = beside(element);
    const bound = element.control;
    const named = (field) =>
      labelsOf(field).length +
      (field.hasAttribute("aria-label") || field.hasAttribute("aria-labelledby") ? 1 : 0);
    keep(
      "labels",
      () => bound !== near,
      () => ({
        ...describe({ ...at, named: false }),
        name: line(element.textContent),
        target,
        bound: bound ? selector(bound) : "",
        same_id:
          target === ""
            ? 0
            : element.getRootNode().querySelectorAll(`#${CSS.escape(target)}`).length,
        nearest: near ? selector(near) : "",
        nearest_labels: near ? named(near) : 0,
        bound_labels: bound ? named(bound) : 0,
      }),
    );
  };

  const here = location.href.split("#")[0];
  const fragmentFound = (url) => {
    if (
      !url ||
      url.href.split("#")[0] !== here ||
      url.hash.length < 2 ||
      /^#(!|\/|:~:|top$)/i.test(url.hash)
    )
      return null;
    let id = url.hash.slice(1).split(":~:")[0];
    if (document.getElementById(id) || document.getElementsByName(id).length) return true;
    try {
      id = decodeURIComponent(id);
    } catch {
      return false;
    }
    return document.getElementById(id) !== null || document.getElementsByName(id).length > 0;
  };
  const visitLink = (at) => {
    const { element } = at;
    const href = element.getAttribute("href");
    let url = null;
    try {
      url = new URL(href, document.baseURI);
    } catch {
      /* an href that is no URL leads nowhere; the rule says so */
    }
    const scripted =
      (element.hasAttribute("role") && element.getAttribute("role") !== "link") ||
      [...element.attributes].some(({ name }) => SCRIPTED.test(name)) ||
      /^(aria-)?(expanded|haspopup|controls|pressed)$/.test(
        [...element.attributes]
          .map((attribute) => attribute.name)
          .find((name) => /^aria-(expanded|haspopup|controls|pressed)$/.test(name))
          ?.slice(5) ?? "",
      ) ||
      /(^|\s)js-/.test(element.getAttribute("class") ?? "");
    keep(
      "links",
      () => at.exposed && looksNameless(element),
      () => ({
        ...describe(at),
        href: href.slice(0, 500),
        url: (url?.href ?? "").slice(0, 2000),
        text: line(element.textContent),
        target: element.getAttribute("target") ?? "" ?? "",
        rel: element.getAttribute("rel") ?? "" ?? "",
        download: element.hasAttribute("download"),
        fragment_found: fragmentFound(url),
        scripted,
      }),
    );
  };

  const auto = (element, property) => {
    const value = element.computedStyleMap?.().get(property)?.toString() ?? "auto";
    return value === "auto" || value === "";
  };
  const visitImage = (at, tag, role, style, state) => {
    const { element } = at;
    const kind = tag === "img" ? "img" : tag === "input" ? "input" : "role";
    const alt = element.getAttribute("alt");
    const decorative =
      alt === "" ||
      role === "none" ||
      role === "presentation" ||
      (kind === "img" && alt !== null && alt.trim() === "");
    const pad = (a, b) => (parseFloat(style[a]) || 0) + (parseFloat(style[b]) || 0);
    const boxed = [element, element.parentElement, element.parentElement?.parentElement].some(
      (node, up) =>
        node &&
        node !== document.body &&
        node !== root &&
        (!auto(node, "height") ||
          !auto(node, "aspect-ratio") ||
          (up > 0 && style.position === "absolute")),
    );
    const owner = element.parentElement?.closest("a[href],button,[role=button],[role=link]");
    keep(
      "images",
      () => kind === "img" && element.naturalWidth === 0 && element.complete,
      () => ({
        ...describe(at),
        kind,
        url: (element.currentSrc || element.src || "").slice(0, 2000),
        alt,
        decorative,
        complete: element.complete !== false,
        lazy: element.loading === "lazy",
        natural_width: element.naturalWidth ?? 0,
        natural_height: element.naturalHeight ?? 0,
        width: round(element.clientWidth - pad("paddingLeft", "paddingRight")),
        height: round(element.clientHeight - pad("paddingTop", "paddingBottom")),
        fit: style.objectFit,
        sized: boxed,
        in_flow: !state.outOfFlow,
        named_parent: owner ? nameOf(owner) !== "" : false,
      }),
    );
  };

  // --- text ------------------------------------------------------------------------------------

  const ownText = (element) => {
    let text = "";
    for (const node of element.childNodes) if (node.nodeType === 3) text += node.data;
    return text;
  };
  const visitText = (at, text, style, state) => {
    facts.textLength += text.replace(/\s/g, "").length;
    if (!at.visible || state.disabled || !at.exposed || !/[\p{L}\p{N}]/u.test(text)) return;
    const fill = colour(style.webkitTextFillColor || style.color);
    if (!fill || fill[3] === 0 || !state.paint.known || style.textShadow !== "none") return;
    if (
      style.webkitTextStrokeWidth !== "0px" ||
      style.backgroundClip === "text" ||
      style.webkitBackgroundClip === "text"
    )
      return;
    const local = state.paint.local;
    const front = through(state.paint.group, blend(local, fill, fill[3]));
    const back = through(state.paint.group, local);
    if (front && back) runs.push({ at, text, style, front, back, provider: state.paint.provider });
  };
  const CLEAR_ENOUGH = 7.5; // a ratio above any threshold in use is not worth a row
  const channel = (value) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ratio = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const textRect = (element) => {
    const range = new Range();
    for (const node of element.childNodes) {
      if (node.nodeType !== 3 || node.data.trim() === "") continue;
      range.selectNodeContents(node);
      const rect = range.getClientRects()[0];
      if (rect && rect.width > 0) return rect;
    }
    return element.getBoundingClientRect();
  };
  const pseudoPaints = (element) =>
    ["::before", "::after"].some((which) => {
      const style = getComputedStyle(element, which);
      if (style.content === "none" || style.content === "normal") return false;
      return (
        style.position === "absolute" &&
        (style.backgroundImage !== "none" || colour(style.backgroundColor)?.[3] > 0)
      );
    });
  // Whether something that is not an ancestor paints where the text is, so that its colour is unknown.
  const overlaid = ({ at, provider }) => {
    const rect = textRect(at.element);
    const x = rect.left + rect.width / 2;
    const y = rect.top + rect.height / 2;
    if (provider) {
      const area = provider.getBoundingClientRect();
      if (x < area.left || x > area.right || y < area.top || y > area.bottom) return true;
    }
    const near = painters.bands.get(Math.floor(y / BAND)) ?? [];
    for (const painter of [...painters.tall, ...near]) {
      const area = painter.rect;
      if (x < area.left || x > area.right || y < area.top || y > area.bottom) continue;
      if (!within(at.element, painter.element) && !within(painter.element, at.element)) return true;
    }
    for (let node = at.element; node instanceof Element; node = parentOf(node)) {
      if (pseudoPaints(node)) return true;
      if (node === provider) break;
    }
    return false;
  };
  const LOOKED_AT = 50;
  const visitRuns = () => {
    const groups = new Map();
    for (const run of runs) {
      if (ratio(run.front, run.back) > CLEAR_ENOUGH) continue;
      const size = parseFloat(run.style.fontSize);
      const key = [run.front, run.back, size, run.style.fontWeight, shape(run.at.element)].join(
        "|",
      );
      const group = groups.get(key);
      // After so many of a kind the next one is no different.
      if ((group?.count ?? 0) < LOOKED_AT && overlaid(run)) continue;
      if (group) group.count += 1;
      else groups.set(key, { ...run, size, weight: +run.style.fontWeight || 400, count: 1 });
    }
    for (const group of groups.values()) {
      keep(
        "texts",
        () => ratio(group.front, group.back) < 4.5,
        () => ({
          ...describe({ ...group.at, named: false }),
          text: line(group.text),
          colour: group.front,
          background: group.back,
          font_size: group.size,
          font_weight: group.weight,
          count: group.count,
        }),
      );
    }
  };

  // --- cut off text ----------------------------------------------------------------------------

  const SLACK = 3; // pixels; fonts overhang their boxes by this much without anyone noticing
  const toggled = (owner) => {
    for (
      let node = owner, up = 0;
      node instanceof Element && up < 2;
      node = node.parentElement, up += 1
    ) {
      for (const near of [node.nextElementSibling, node.previousElementSibling]) {
        if (
          near?.matches("button,[role=button],[aria-expanded],a[href],summary,label") ||
          near?.querySelector(":scope > button,:scope > [aria-expanded]")
        )
          return true;
      }
    }
    return (
      owner.querySelector("[aria-expanded]") !== null ||
      (owner.id !== "" && document.querySelector(`[aria-controls~=${quoted(owner.id)}]`) !== null)
    );
  };
  const visitClipped = (at, text, style) => {
    const { element, rect } = at;
    const hides = (value) => value === "hidden" || value === "clip";
    const overX = hides(style.overflowX) ? element.scrollWidth - element.clientWidth : 0;
    const overY = hides(style.overflowY) ? element.scrollHeight - element.clientHeight : 0;
    if (overX <= SLACK && overY <= SLACK) return;
    const inner = {
      right: rect.left + element.clientLeft + element.clientWidth,
      bottom: rect.top + element.clientTop + element.clientHeight,
    };
    let cutX = 0;
    let cutY = 0;
    const range = new Range();
    // Only running text of this box counts: block children are a carousel's slides, not its text.
    const parts =
      text.trim() !== ""
        ? [element]
        : [...element.children].filter(
            (child) => overY > SLACK && /^(p|ul|ol|h[1-6]|span|blockquote)$/.test(child.localName),
          );
    for (const part of parts) {
      range.selectNodeContents(part);
      for (const piece of range.getClientRects()) {
        if (overX > SLACK && piece.left < inner.right - 2)
          cutX = Math.max(cutX, piece.right - inner.right);
        if (overY > SLACK) cutY = Math.max(cutY, piece.bottom - inner.bottom);
      }
    }
    const axis = overX > SLACK && cutX > SLACK ? "x" : "y";
    const hidden = axis === "x" ? cutX : cutY;
    // Less than a third of a line is the descent of a tight line box, not lost text.
    if (hidden <= SLACK || (axis === "y" && hidden < parseFloat(style.fontSize) * 0.35)) return;
    const ellipsis =
      style.textOverflow !== "clip" || (style.webkitLineClamp && style.webkitLineClamp !== "none");
    const tooltip =
      element.closest(
        "[title],[aria-label],[data-tooltip],[data-tip],[data-bs-title],[data-original-title]",
      ) ?? element.querySelector("[title]");
    const leads =
      element.closest(
        "a[href],button,summary,[role=button],[role=link],[role=option],[role=tab]",
      ) ?? element.querySelector("a[href]");
    keep(
      "clipped",
      () => true,
      () => ({
        ...describe({ ...at, named: false }),
        text: line(element.textContent),
        axis,
        hidden: round(hidden),
        ellipsis: Boolean(ellipsis),
        affordance: tooltip !== null || leads !== null || toggled(element),
      }),
    );
  };

  // --- the walk --------------------------------------------------------------------------------

  const ALL = [-1e9, -1e9, 1e9, 1e9];
  const cut = (clip, rect, x, y) => [
    x ? Math.max(clip[0], rect.left) : clip[0],
    y ? Math.max(clip[1], rect.top) : clip[1],
    x ? Math.min(clip[2], rect.right) : clip[2],
    y ? Math.min(clip[3], rect.bottom) : clip[3],
  ];
  const shownIn = (rect, clip) => {
    const width = Math.min(rect.right, clip[2]) - Math.max(rect.left, clip[0]);
    const height = Math.min(rect.bottom, clip[3]) - Math.max(rect.top, clip[1]);
    return width > 1 && height > 1 && rect.right + left > 1 && rect.bottom + top > 1;
  };
  const HIDING_PATH =
    /inset\((50|100)%|circle\(0|polygon\(0(px|%)? 0(px|%)?, ?0(px|%)? 0(px|%)?, ?0/;
  const hiddenBy = (style) =>
    (style.clip !== "auto" && /rect\(([01]px,? ?){3}[01]px\)/.test(style.clip)) ||
    (style.clipPath !== "none" && HIDING_PATH.test(style.clipPath));

  const paintOf = (element, style, rect, paint) => {
    let next = paint;
    const opacity = +style.opacity;
    if (
      style.filter !== "none" ||
      style.mixBlendMode !== "normal" ||
      style.maskImage !== "none" ||
      style.backdropFilter !== "none"
    ) {
      return { ...paint, known: false, lost: true };
    }
    if (opacity < 1)
      next = {
        ...next,
        group: { parent: next.group, backdrop: next.known ? next.local : null, opacity },
      };
    if (style.backgroundImage !== "none") return { ...next, known: false };
    const fill = colour(style.backgroundColor);
    if (!fill || fill[3] === 0) return next;
    // Corners and borders are small; text inside a box lies over its background.
    if (fill[3] === 1)
      return { ...next, known: !next.lost, local: fill.slice(0, 3), provider: element };
    return next.known
      ? { ...next, local: blend(next.local, fill, fill[3]), provider: element }
      : next;
  };

  const childrenOf = (element) => {
    if (element.shadowRoot) return element.shadowRoot.children;
    if (element.localName === "slot") {
      const assigned = element.assignedElements();
      if (assigned.length) return assigned;
    }
    return element.children;
  };

  const unrendered = (element) => {
    index(element);
    facts.elements += 1;
    for (const inner of element.getElementsByTagName("*")) {
      facts.elements += 1;
      index(inner);
    }
    const links = element.matches("a[href]")
      ? [element, ...element.querySelectorAll("a[href]")]
      : element.querySelectorAll("a[href]");
    for (const link of links)
      visitLink({
        element: link,
        rect: link.getBoundingClientRect(),
        visible: false,
        exposed: false,
      });
  };

  const visit = (element, parent) => {
    const tag = element.localName;
    const style = getComputedStyle(element);
    if (style.display === "none") return unrendered(element);
    index(element);
    facts.elements += 1;
    const contents = style.display === "contents";
    const rect = element.getBoundingClientRect();
    const given = (element.getAttribute("role") ?? "").trim().split(/\s+/)[0].toLowerCase();
    const position = style.position;
    const whole = element === root || element === document.body;
    let clip =
      position === "fixed" ? ALL : position === "absolute" ? parent.absoluteClip : parent.clip;
    const state = { ...parent };
    state.control = parent.control;
    state.hidden =
      parent.hidden || element.getAttribute("aria-hidden") === "true" || element.inert === true;
    state.disabled =
      parent.disabled ||
      element.disabled === true ||
      element.getAttribute("aria-disabled") === "true" ||
      (tag === "label" && element.control?.disabled === true) ||
      element.inert === true;
    state.pinned = parent.pinned || position === "fixed" || position === "sticky";
    state.outOfFlow = parent.outOfFlow || position === "fixed" || position === "absolute";
    state.opacity = parent.opacity * +style.opacity;
    state.veiled = parent.veiled || hiddenBy(style);
    state.paint = contents ? parent.paint : paintOf(element, style, rect, parent.paint);
    const drawn = style.visibility === "visible" && state.opacity > 0.05 && !state.veiled;
    const visible =
      drawn && !contents && shownIn(rect, clip) && style.contentVisibility !== "hidden";
    state.clip = clip;
    const at = { element, rect, visible, exposed: style.visibility === "visible" && !state.hidden };

    if (visible && !whole) {
      const media = MEDIA.has(tag);
      const pictured = style.backgroundImage !== "none";
      const area = rect.width * rect.height;
      if (media || pictured || colour(style.backgroundColor)?.[3] > 0) paints(element, rect);
      if (
        (media && (tag !== "img" || element.naturalWidth > 0) && area > 16) ||
        (pictured && area > 2500) ||
        /^(input|button|select|textarea)$/.test(tag)
      )
        facts.painted += 1;
    }
    if (visible && !whole && position !== "fixed" && !parent.contained && !parent.beyond) {
      const beyond = rect.right + left - view.width;
      if (beyond > 1) {
        state.beyond = true;
        keep(
          "wide",
          () => true,
          () => ({ ...describe({ ...at, named: false }), beyond: round(beyond) }),
        );
      }
    }
    const isControl = visitControl(at, tag, given, style, state);
    if (isControl) state.control = true;
    state.cursor = style.cursor;
    if (at.exposed || visible) visitField(at, tag, given, state);
    if (tag === "label" && visible) visitLabel(at);
    if ((tag === "a" || tag === "area") && element.hasAttribute("href")) visitLink(at);
    if (
      tag === "img" ||
      given === "img" ||
      given === "image" ||
      (tag === "input" && element.type === "image")
    )
      visitImage(at, tag, given, style, state);
    if (/^h[1-6]$/.test(tag) ? given === "" || given === "heading" : given === "heading") {
      keep(
        "headings",
        () => false,
        () => ({
          ...describe(at),
          level: +(element.getAttribute("aria-level") || (/^h/.test(tag) ? tag[1] : 2)),
          text: line(element.textContent),
        }),
      );
    }
    if (LANDMARKS.has(tag) || LANDMARK_ROLES.has(given))
      keep(
        "landmarks",
        () => false,
        () => describe(at),
      );
    if (tag === "iframe" || tag === "frame") {
      keep(
        "frames",
        () => nameOf(element) === "",
        () => ({
          ...describe(at),
          src: (element.src || "").slice(0, 500),
          tabindex: element.hasAttribute("tabindex") ? element.tabIndex : null,
        }),
      );
    }
    if (tag === "form") {
      keep(
        "forms",
        () => false,
        () => ({
          ...describe(at),
          action: String(
            element.getAttribute("action") === null
              ? location.href
              : new URL(element.getAttribute("action"), document.baseURI).href,
          ).slice(0, 500),
          method: (element.getAttribute("method") || "get").toLowerCase(),
          fields: element.querySelectorAll(FIELD).length,
          submit:
            element.querySelector(
              "button:not([type=button],[type=reset]),input[type=submit],input[type=image]",
            ) !== null,
        }),
      );
    }
    const text = LEAVES.has(tag)
      ? ""
      : tag === "input" && /^(button|submit|reset)$/.test(element.type)
        ? element.value
        : ownText(element);
    if (text.trim() !== "") {
      if (drawn && (contents || visible)) visitText(at, text, style, state);
    }
    if (
      visible &&
      !whole &&
      (style.overflowX !== "visible" || style.overflowY !== "visible") &&
      tag !== "input" &&
      tag !== "textarea" &&
      tag !== "marquee"
    )
      visitClipped(at, text, style);

    if (LEAVES.has(tag)) {
      for (const inner of element.getElementsByTagName("*")) {
        facts.elements += 1;
        index(inner);
      }
      return undefined;
    }
    if (!whole && !contents) {
      const x = style.overflowX;
      const y = style.overflowY;
      const hides = (value) => value === "hidden" || value === "clip";
      if (x !== "visible" || y !== "visible") {
        clip = cut(clip, rect, hides(x), hides(y));
        // What a scroller holds can be scrolled into view, if the scroller itself is in view.
        if (visible && (x === "auto" || x === "scroll")) clip = [ALL[0], clip[1], ALL[2], clip[3]];
        if (visible && (y === "auto" || y === "scroll")) clip = [clip[0], ALL[1], clip[2], ALL[3]];
        if (x !== "visible" && rect.right + left <= view.width + 1) state.contained = true;
      }
      state.clip = clip;
      if (position !== "static" || style.transform !== "none" || style.contain !== "none")
        state.absoluteClip = clip;
    }
    const closed = style.contentVisibility === "hidden" || (tag === "details" && !element.open);
    for (const child of childrenOf(element)) {
      if (child.localName === "head") continue;
      if (closed && !(tag === "details" && child === element.querySelector(":scope > summary")))
        unrendered(child);
      else visit(child, state);
    }
    return undefined;
  };

  // --- vitals ----------------------------------------------------------------------------------

  const entries = (type) => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return [];
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type, buffered: true });
    const found = observer.takeRecords();
    observer.disconnect();
    return found;
  };
  const nodeSelector = (node) => {
    const element = node instanceof Element ? node : node?.parentElement;
    return element?.isConnected ? selector(element) : "";
  };
  // CLS is the largest burst of shifts: gaps under 1 s, 5 s in all. https://web.dev/articles/cls
  const layoutShift = (shifts) => {
    let worst = 0;
    let burst = 0;
    let first = -Infinity;
    let last = -Infinity;
    for (const shift of shifts) {
      if (shift.startTime - last > 1000 || shift.startTime - first > 5000) {
        burst = 0;
        first = shift.startTime;
      }
      last = shift.startTime;
      burst += shift.value;
      worst = Math.max(worst, burst);
    }
    return Math.round(worst * 10000) / 10000;
  };
  const vitals = () => {
    const shifts = entries("layout-shift").filter((shift) => !shift.hadRecentInput);
    const largest = entries("largest-contentful-paint").at(-1);
    const painted = entries("paint").find((entry) => entry.name === "first-contentful-paint");
    const tasks = entries("longtask");
    const navigation = performance.getEntriesByType("navigation")[0];
    const timing = (value) => (value > 0 ? round(value) : null);
    return {
      ttfb_ms: timing(navigation?.responseStart),
      fcp_ms: timing(painted?.startTime),
      lcp_ms: timing(largest?.startTime),
      lcp_selector: largest?.element ? nodeSelector(largest.element) : "",
      lcp_url: (largest?.url ?? "").slice(0, 2000),
      cls: PerformanceObserver.supportedEntryTypes.includes("layout-shift")
        ? layoutShift(shifts)
        : null,
      shifts: [...shifts]
        .sort((a, b) => b.value - a.value)
        .slice(0, 10)
        .map((shift) => ({
          value: Math.round(shift.value * 10000) / 10000,
          time_ms: round(shift.startTime),
          selectors: [
            ...new Set(
              (shift.sources ?? []).map((source) => nodeSelector(source.node)).filter(Boolean),
            ),
          ],
        })),
      dom_content_loaded_ms: timing(navigation?.domContentLoadedEventEnd),
      load_ms: timing(navigation?.loadEventEnd),
      long_task_ms: round(tasks.reduce((sum, task) => sum + task.duration - 50, 0)),
      long_tasks: tasks.length,
    };
  };

  // --- all together ------------------------------------------------------------------------------

  for (const element of document.head?.getElementsByTagName("*") ?? []) index(element);
  if (document.head) index(document.head);
  visit(root, {
    clip: ALL,
    absoluteClip: ALL,
    opacity: 1,
    cursor: "auto",
    hidden: false,
    disabled: false,
    pinned: false,
    outOfFlow: false,
    veiled: false,
    contained: false,
    beyond: false,
    control: false,
    paint: { known: true, lost: false, local: [255, 255, 255], provider: null, group: null },
  });
  visitRuns();
  for (const entry of performance.getEntriesByType("resource")) {
    keep(
      "resources",
      () => entry.renderBlockingStatus === "blocking",
      () => ({
        url: entry.name.slice(0, 2000),
        kind: entry.initiatorType,
        start_ms: round(entry.startTime),
        end_ms: round(entry.responseEnd),
        transfer_bytes: entry.transferSize,
        body_bytes: entry.decodedBodySize,
        render_blocking: entry.renderBlockingStatus === "blocking",
      }),
    );
  }
  const meta = (name) =>
    document.querySelector(`meta[name=${name} i]`)?.getAttribute("content") ?? null;
  const scroller = document.scrollingElement ?? root;
  const ruling =
    getComputedStyle(root).overflowX === "visible" && document.body ? document.body : root;
  const answer = {
    ...close(),
    document: {
      url: location.href,
      title: document.title,
      lang: root.getAttribute("lang") ?? root.getAttribute("xml:lang"),
      content_type: document.contentType,
      quirks: document.compatMode === "BackCompat",
      viewport_meta: meta("viewport"),
      refresh_meta:
        document.querySelector("meta[http-equiv=refresh i]")?.getAttribute("content") ?? "",
      icons: [...document.querySelectorAll("link[rel~=icon i],link[rel=apple-touch-icon i]")]
        .map((link) => link.href)
        .slice(0, 10),
      client_width: view.width,
      client_height: view.height,
      scroll_width: scroller.scrollWidth,
      scroll_height: scroller.scrollHeight,
      scrolls_x: !/hidden|clip/.test(getComputedStyle(ruling).overflowX),
      pixel_ratio: window.devicePixelRatio,
      elements: facts.elements,
      text_length: facts.textLength,
      painted: facts.painted,
    },
    vitals: vitals(),
  };
  answer.collect_ms = round(performance.now() - started);
  return answer;
}
