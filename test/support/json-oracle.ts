/**
 * Parses a request body by RFC 8259 and the stricter rules of the API: the root is an object, with
 * at most 32 levels, no duplicate names, no `__proto__`, and finite numbers. Uses no JSON.parse, no
 * TextDecoder and no code of the service. Returns undefined for bytes that must be refused.
 */
export function readJson(bytes: Uint8Array): { value: object } | undefined {
  try {
    const reader = new Reader(decode(bytes));
    const value = reader.document();
    return { value };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

class Refused extends Error {}

/** Decodes UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
function decode(bytes: Uint8Array): number[] {
  const points: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++] ?? 0;
    if (lead < 0x80) {
      points.push(lead);
      continue;
    }
    const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4) throw new Refused();
    let point = lead & (0x3f >> more);
    for (let n = 0; n < more; n++) {
      const next = bytes[at++];
      if (next === undefined || next < 0x80 || next > 0xbf) throw new Refused();
      point = (point << 6) | (next & 0x3f);
    }
    const least = [0x80, 0x800, 0x10000][more - 1] ?? 0;
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
      throw new Refused();
    points.push(point);
  }
  return points;
}

const DIGIT = '0123456789';

class Reader {
  readonly #points: number[];
  #at = 0;

  constructor(points: number[]) {
    this.#points = points;
  }

  document(): object {
    this.#space();
    if (this.#peek() !== '{') throw new Refused();
    const value = this.#value(1) as object;
    this.#space();
    if (this.#at < this.#points.length) throw new Refused();
    return value;
  }

  #peek(): string {
    const point = this.#points[this.#at];
    return point === undefined ? '' : String.fromCodePoint(point);
  }

  #next(): string {
    const character = this.#peek();
    if (character === '') throw new Refused();
    this.#at++;
    return character;
  }

  #expect(text: string): void {
    for (const character of text) if (this.#next() !== character) throw new Refused();
  }

  #space(): void {
    while ([' ', '\t', '\n', '\r'].includes(this.#peek())) this.#at++;
  }

  #value(depth: number): unknown {
    const first = this.#peek();
    if (first === '{' || first === '[') {
      if (depth > 32) throw new Refused();
      this.#at++;
      return first === '{' ? this.#object(depth) : this.#array(depth);
    }
    if (first === '"') return this.#string();
    if (first === 't') return this.#word('true', true);
    if (first === 'f') return this.#word('false', false);
    if (first === 'n') return this.#word('null', null);
    return this.#number();
  }

  #word(text: string, value: unknown): unknown {
    this.#expect(text);
    return value;
  }

  /** Whether an object or array is empty; if so, consumes its closing bracket. */
  #ends(end: string): boolean {
    this.#space();
    if (this.#peek() !== end) return false;
    this.#at++;
    return true;
  }

  #object(depth: number): object {
    const object: Record<string, unknown> = {};
    if (this.#ends('}')) return object;
    for (;;) {
      this.#space();
      const name = this.#string();
      if (name === '__proto__' || Object.hasOwn(object, name)) throw new Refused();
      this.#space();
      this.#expect(':');
      this.#space();
      object[name] = this.#value(depth + 1);
      this.#space();
      if (this.#next() !== ',') break;
    }
    if (this.#points[this.#at - 1] !== 0x7d) throw new Refused();
    return object;
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    if (this.#ends(']')) return items;
    for (;;) {
      this.#space();
      items.push(this.#value(depth + 1));
      this.#space();
      if (this.#next() !== ',') break;
    }
    if (this.#points[this.#at - 1] !== 0x5d) throw new Refused();
    return items;
  }

  #string(): string {
    this.#expect('"');
    const units: number[] = [];
    for (;;) {
      const character = this.#next();
      if (character === '"') break;
      if (character < ' ') throw new Refused();
      if (character === '\\') units.push(this.#escape());
      else for (let n = 0; n < character.length; n++) units.push(character.charCodeAt(n));
    }
    checkUnits(units);
    return units.map((unit) => String.fromCharCode(unit)).join('');
  }

  #escape(): number {
    const kind = this.#next();
    if (kind !== 'u') {
      const unit = { '"': 34, '\\': 92, '/': 47, b: 8, f: 12, n: 10, r: 13, t: 9 }[kind];
      if (unit === undefined) throw new Refused();
      return unit;
    }
    let unit = 0;
    for (let n = 0; n < 4; n++) {
      const digit = '0123456789abcdef'.indexOf(this.#next().toLowerCase());
      if (digit < 0) throw new Refused();
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #number(): number {
    let text = this.#peek() === '-' ? this.#next() : '';
    const first = this.#digit();
    text += first + (first === '0' ? '' : this.#digits());
    if (this.#peek() === '.') text += this.#next() + this.#digit() + this.#digits();
    if (this.#peek() === 'e' || this.#peek() === 'E') {
      text += this.#next();
      if (this.#peek() === '+' || this.#peek() === '-') text += this.#next();
      text += this.#digit() + this.#digits();
    }
    const value = Number(text);
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
      throw new Refused();
    return value;
  }

  #digit(): string {
    const digit = this.#next();
    if (!DIGIT.includes(digit)) throw new Refused();
    return digit;
  }

  #digits(): string {
    let digits = '';
    while (this.#peek() !== '' && DIGIT.includes(this.#peek())) digits += this.#next();
    return digits;
  }
}

/** Refuses control characters other than line feed and tab, and unpaired surrogates. */
function checkUnits(units: readonly number[]): void {
  for (let n = 0; n < units.length; n++) {
    const unit = units[n] as number;
    if ((unit < 0x20 && unit !== 10 && unit !== 9) || (unit >= 0x7f && unit <= 0x9f))
      throw new Refused();
    const next = units[n + 1] ?? 0;
    if (unit >= 0xdc00 && unit <= 0xdfff) throw new Refused();
    if (unit >= 0xd800 && unit <= 0xdbff) {
      if (next < 0xdc00 || next > 0xdfff) throw new Refused();
      n++;
    }
  }
}
