import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..', '..');

/** Each style sheet without its comments, by its path. */
const SHEETS = new Map(
  globSync(['web/**/*.css', 'services/**/*.css'], { cwd: ROOT }).map((path) => [
    path,
    readFileSync(join(ROOT, path), 'utf8').replaceAll(/\/\*.*?\*\//gs, ''),
  ]),
);

const TOKENS = 'web/shared/base.css';
/** The tokens, in light and in dark. */
const BLOCKS = /:root \{[^}]*\}/g;

type Tokens = Readonly<Record<string, string>>;

const toTokens = (block: string): Tokens =>
  Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
const [light = {}, dark = {}] = (SHEETS.get(TOKENS)?.match(BLOCKS) ?? []).map(toTokens);
const SCHEMES: Readonly<Record<string, Tokens>> = { light, dark: { ...light, ...dark } };

/** Relative luminance of a colour (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of two colours (WCAG 2.2), from 1 to 21. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const SURFACES = ['paper', 'raised', 'sunken'];
const WASHES = ['accent-wash', 'good-wash', 'bad-wash', 'look-wash', 'link-wash'];

interface Use {
  what: string;
  colours: readonly string[];
  on: readonly string[];
}

/** WCAG 2.2, 1.4.3: at least 4.5. */
const TEXTS: readonly Use[] = [
  {
    what: 'text, hints and links',
    colours: ['ink', 'muted', 'link'],
    on: [...SURFACES, ...WASHES],
  },
  { what: 'states', colours: ['accent', 'good', 'bad', 'look'], on: SURFACES },
  { what: 'something good', colours: ['good'], on: ['good-wash'] },
  { what: 'something bad', colours: ['bad'], on: ['bad-wash'] },
  { what: 'something to look at', colours: ['look'], on: ['look-wash'] },
  { what: 'the main button', colours: ['accent-ink'], on: ['accent', 'accent-strong'] },
  { what: 'a confirmation', colours: ['paper'], on: ['ink'] },
];

/** WCAG 2.2, 1.4.11: at least 3. */
const SHAPES: readonly Use[] = [
  { what: 'edges of controls', colours: ['edge'], on: [...SURFACES, ...WASHES] },
  { what: 'the focus, selection and charts', colours: ['accent'], on: [...SURFACES, ...WASHES] },
];

const LEVELS = [
  { uses: TEXTS, needed: 4.5 },
  { uses: SHAPES, needed: 3 },
];

t.test('measures the contrast as WCAG does', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21);
  t.equal(contrast('#ffffff', '#ffffff'), 1);
  t.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48');
});

for (const [scheme, tokens] of Object.entries(SCHEMES))
  t.test(`all that is read or used has enough contrast in ${scheme}`, async (t) => {
    for (const { uses, needed } of LEVELS)
      for (const { what, colours, on } of uses)
        for (const [colour, surface] of colours.flatMap((one) => on.map((two) => [one, two]))) {
          const [front, back] = [tokens[colour ?? ''], tokens[surface ?? '']];
          const pair = `--${colour} on --${surface}`;
          if (!front || !back) {
            t.fail(`${scheme}: ${pair}: no such token in ${TOKENS}`);
            continue;
          }
          const ratio = contrast(front, back);
          const text = `${what}: ${pair} (${front} on ${back}) has ${ratio.toFixed(2)}, needs ${needed}`;
          t.ok(ratio >= needed, text);
        }
  });

t.test('a style that sets text and background has a pair that is checked', async (t) => {
  const checked = new Set(
    TEXTS.flatMap(({ colours, on }) => colours.flatMap((one) => on.map((two) => `${one} ${two}`))),
  );
  for (const [path, sheet] of SHEETS)
    for (const [rule, body = ''] of sheet.matchAll(/[^{}]*\{([^{}]*)\}/g)) {
      const [, colour] = /(?:^|[\s;])color: var\(--([\w-]+)\)/.exec(body) ?? [];
      const [, surface] = /background(?:-color)?: var\(--([\w-]+)\)/.exec(body) ?? [];
      if (colour && surface) t.ok(checked.has(`${colour} ${surface}`), `${path}: ${rule.trim()}`);
    }
});

t.test('no style names a colour that is not a token', async (t) => {
  const literal = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\(/gi;
  const named =
    /\b(?:color|background|border|outline|fill|stroke)[\w-]*:[^;]*\b(?:white|black|gr[ae]y|red|green|blue|yellow|orange)\b/g;
  for (const [path, sheet] of SHEETS) {
    const rules = path === TOKENS ? sheet.replaceAll(BLOCKS, '') : sheet;
    t.same([...(rules.match(literal) ?? []), ...(rules.match(named) ?? [])], [], path);
  }
});
