import { z } from 'zod';

// RFC 3986, in patterns that every regular-expression dialect accepts. International names must be
// in ASCII form; the last label of a name begins with a letter, because other labels parse as a
// number.
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?';
const NAME = `(?:${LABEL}\\.)*[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?`;
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
const HEX = '[0-9A-Fa-f]{1,4}';
const LAST_TWO = `(?:${HEX}:${HEX}|${IPV4})`;
const IPV6 = [
  `(?:${HEX}:){6}${LAST_TWO}`,
  ...[7, 6, 5, 4, 3, 2].map((after) => `${upTo(7 - after)}::(?:${HEX}:){${after - 2}}${LAST_TWO}`),
  `${upTo(6)}::${HEX}`,
  `${upTo(7)}::`,
].join('|');
const PORT =
  '0*(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const PART = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*";
const AFTER_MARK = PART.replace('@/', '@/?');
const HTTPS_URL = new RegExp(
  `^[Hh][Tt][Tt][Pp][Ss]://(?:(?:${NAME}|${IPV4})\\.?|\\[(?:${IPV6})\\])(?::(?:${PORT})?)?` +
    `(?:/${PART})?(?:\\?${AFTER_MARK})?(?:#${AFTER_MARK})?$`,
);

/** Pattern for at most this many groups of an address before its `::`. */
function upTo(groups: number): string {
  return groups === 0 ? '' : `(?:(?:${HEX}:){0,${groups - 1}}${HEX})?`;
}

const REFUSED = 'must be an absolute https URL in ASCII, without a user name';

/** An absolute https URL in ASCII without credentials, at most 2000 characters. */
export const HttpsUrl = z
  .string()
  .max(2000)
  .regex(HTTPS_URL, REFUSED)
  .refine((text) => URL.canParse(text), REFUSED)
  .meta({ id: 'HttpsUrl', format: 'uri', examples: ['https://example.org/'] });
