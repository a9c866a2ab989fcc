/** Largest answer to a host, in characters of JSON: a host may put all of it before a model. */
export const MAX_ANSWER_CHARS = 20_000;

const sizeOf = (answer: object): number => JSON.stringify(answer).length;

/** The first characters of a text, without half of a surrogate pair at the end. */
const beginning = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** The answer from an offset, in pieces of its JSON where it is too large to be given whole. */
export function pieceOf(answer: object, offset: number): object {
  const whole = JSON.stringify(answer);
  if (offset === 0 && whole.length <= MAX_ANSWER_CHARS) return answer;
  const text = beginning(whole.slice(offset), MAX_ANSWER_CHARS);
  const end = offset + text.length;
  const next = text !== '' && end < whole.length ? end : null;
  const advice = next === null ? 'Its end.' : `Call the tool again with offset ${next} for more.`;
  return {
    message: `A part of an answer of ${whole.length} characters of JSON. ${advice}`,
    text,
    offset,
    total_chars: whole.length,
    next_offset: next,
  };
}

/** Reads a page, with fewer items where they are too large together. The cursor of the answer leads to the others. */
export async function readFittingPage<Page extends object>(
  limit: number,
  read: (limit: number) => PromiseLike<Page>,
): Promise<Page> {
  const page = await read(limit);
  return limit > 1 && sizeOf(page) > MAX_ANSWER_CHARS
    ? readFittingPage(Math.floor(limit / 2), read)
    : page;
}

/** An answer that cannot be read again in pieces: with the beginnings of its texts where it is too large. */
export function shortened(answer: object): object {
  if (sizeOf(answer) <= MAX_ANSWER_CHARS) return answer;
  const cut = `The answer has ${sizeOf(answer)} characters of JSON, so long texts in it were cut.`;
  for (const length of [500, 50]) {
    const short = { ...(cutTexts(answer, length) as object), cut };
    if (sizeOf(short) <= MAX_ANSWER_CHARS) return short;
  }
  return { cut: `The answer has ${sizeOf(answer)} characters of JSON, too many for a host.` };
}

function cutTexts(value: unknown, length: number): unknown {
  if (typeof value === 'string')
    return value.length > length
      ? `${beginning(value, length)} [cut: ${value.length} characters in all]`
      : value;
  if (Array.isArray(value)) return value.map((one) => cutTexts(one, length));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, cutTexts(one, length)]),
  );
}
