import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Content } from './route.ts';

/**
 * Compression of answers. Two kinds of answers stay as they are: streams, since their readers wait for
 * each piece, and everything below one packet, where it saves nothing.
 *
 * Compression can leak a secret where an attacker's own text is in the same answer and the attacker
 * sees its length (BREACH). No answer holds a secret of its caller: keys, tokens and cookies are never
 * sent back in a body. Besides, both session cookies are SameSite=Strict, so no other site can have an
 * authenticated page or read fetched.
 */

export type Encoding = 'br' | 'gzip';

const ENCODINGS = ['br', 'gzip'] as const;
const MIN_BYTES = 1024;
const COMPRESSIBLE = /^(text\/|application\/(json|xml)\b)/;

/** Levels for content that is compressed once in a process, and for content that is made anew. */
const KEPT = { brotli: 9, gzip: 9 };
const PASSING = { brotli: 4, gzip: 4 };

/** Whether the bytes of an answer depend on `Accept-Encoding`. */
export const isCompressible = (type: string, bytes: number): boolean =>
  bytes >= MIN_BYTES && COMPRESSIBLE.test(type);

/** The encoding that `Accept-Encoding` prefers; brotli where it has no preference. */
export function preferredEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const qualities = new Map<string, number>();
  for (const entry of header.split(',')) {
    const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    // A quality that is no number counts as a refusal.
    qualities.set(coding, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  const qualityOf = (coding: string) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  let best: Encoding | undefined;
  let most = qualities.get('identity') ?? 0;
  for (const encoding of ENCODINGS) {
    const quality = qualityOf(encoding);
    if (quality > 0 && (best ? quality > most : quality >= most)) {
      best = encoding;
      most = quality;
    }
  }
  return best;
}

const compressed = new WeakMap<Content, Partial<Record<Encoding, Promise<Uint8Array>>>>();

/** The content in an encoding, compressed once for all answers that share the same object. */
export function encode(content: Content, encoding: Encoding): Promise<Uint8Array> {
  const forms = compressed.get(content) ?? {};
  compressed.set(content, forms);
  forms[encoding] ??= compress[encoding](Buffer.from(content.bytes as Uint8Array), content.kept);
  return forms[encoding];
}

const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)];

const compress = {
  br: (bytes: Uint8Array, kept = false): Promise<Uint8Array> =>
    brotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: (kept ? KEPT : PASSING).brotli,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Uint8Array, kept = false): Promise<Uint8Array> =>
    gzipped(bytes, { level: (kept ? KEPT : PASSING).gzip }),
};
