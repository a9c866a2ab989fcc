import { createHash } from 'node:crypto';

/** The moment at which every recorded exchange takes place. */
const RECORDED_AT = Date.UTC(2026, 8, 12, 12);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Ids, keys, hashes and times, wherever they occur in a text. */
const VOLATILE = new RegExp(
  [
    '(?<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})',
    '(?<hex>\\b[0-9a-f]{64}\\b)',
    '(?<time>\\b\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)',
    // Not the day in the name of a contract, which is the same in every run.
    '(?<day>(?<![\\w-])20\\d\\d-\\d\\d-\\d\\d\\b)',
    '(?<seconds>\\b1[789]\\d{8}\\b)',
  ].join('|'),
  'g',
);

/** The places of bytes that authenticators make, or that the service makes for them. */
const OPAQUE =
  /\.(challenge|(credential|user|excludeCredentials\.\d+)\.id|clientDataJSON|attestationObject|authenticatorData|signature|userHandle)$/;

/**
 * Replaces what differs from run to run (ids, keys, hashes, cursors, times) by values that depend on
 * the place where each was first seen, so that a further exchange does not change those of others.
 * The same value is replaced alike everywhere. Every moment since `startedAt` becomes one moment;
 * the distance of other times from `now` is kept, in whole minutes.
 */
export function createStableValues(startedAt: number, now: () => number = Date.now) {
  const replacements = new Map<string, string>();
  const places = new Map<string, number>();

  function digest(place: string): string {
    const count = (places.get(place) ?? 0) + 1;
    places.set(place, count);
    return createHash('sha256').update(`${place} ${count}`).digest('hex');
  }

  function replace(value: string, create: () => string): string {
    const replacement = replacements.get(value) ?? create();
    replacements.set(value, replacement);
    return replacement;
  }

  function stableMoment(time: number): number {
    const distance = time - now();
    if (time >= startedAt - 1000 && distance < 1000) return RECORDED_AT;
    // The end of a day stays one.
    if (time % DAY_MS === 0) return startOfDay(RECORDED_AT) + (distance > 0 ? DAY_MS : 0);
    return RECORDED_AT + Math.round(distance / MINUTE_MS) * MINUTE_MS;
  }

  function stableDay(day: string): string {
    const days = Math.round((Date.parse(day) - startOfDay(now())) / DAY_MS);
    return new Date(RECORDED_AT + days * DAY_MS).toISOString().slice(0, 10);
  }

  function stableText(text: string, place: string): string {
    return text.replace(VOLATILE, (value, ...rest) => {
      const { uuid, hex, time, day } = rest.at(-1) as Record<string, string | undefined>;
      if (uuid) return replace(value, () => toUuid(digest(place), value.charAt(14)));
      if (hex) return replace(value, () => digest(place));
      if (day) return replace(value, () => stableDay(value));
      if (time)
        return replace(value, () => new Date(stableMoment(Date.parse(value))).toISOString());
      return replace(value, () => String(stableMoment(Number(value) * 1000) / 1000));
    });
  }

  /** Replaces the volatile parts of a JSON value; `place` names it, for example by its operation. */
  return function stable(value: unknown, place: string): unknown {
    const name = place.split('.').at(-1) ?? '';
    if (typeof value === 'string')
      return name.endsWith('cursor') || OPAQUE.test(place)
        ? replace(value, () => Buffer.from(digest(place).slice(0, 24)).toString('base64url'))
        : stableText(value, place);
    if (typeof value === 'number')
      return /(^|\.)([a-z]+_)?(age|handling)_seconds(\.|$)/.test(place)
        ? Math.floor(value / 60)
        : Number(stableText(String(value), place));
    if (Array.isArray(value)) return value.map((item, index) => stable(item, `${place}.${index}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, stable(part, `${place}.${key}`)]),
    );
  };
}

const startOfDay = (time: number): number => time - (time % DAY_MS);

/** A UUID of a version from a digest; one of version 7 begins with the recorded moment. */
function toUuid(digest: string, version: string): string {
  const start = version === '7' ? RECORDED_AT.toString(16).padStart(12, '0') : digest.slice(0, 12);
  const hex = `${start}${version}${digest.slice(13, 16)}8${digest.slice(17, 32)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
