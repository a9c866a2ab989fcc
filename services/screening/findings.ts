import { characterFindings } from './characters.ts';
import { contactFindings } from './contacts.ts';
import { bounded, fold } from './folded.ts';
import { profaneWords } from './profanity.ts';
import type { Finding, FindingCode } from './rules.ts';
import { shapeFindings } from './shape.ts';

/** Words of the note that a finding refers to, by finding code. */
export type FindingWords = Partial<Record<FindingCode, string[]>>;

export interface TextFindings {
  findings: Finding[];
  words: FindingWords;
}

const MAX_WORDS = 5;

/** Findings in a note's message and name alone, without comparing it to other notes. */
export function findingsIn(note: { name: string; message: string }): TextFindings {
  const text = bounded(`${note.message}\n${note.name}`);
  const folded = fold(text);
  // Folded to ss, a sharp s would make an English word of symbols such as åß∂ƒ.
  const profane = profaneWords(fold(text.replaceAll(/[ßẞ]/g, ' ')));
  const findings = [
    ...contactFindings(text),
    ...(profane.length > 0 ? [{ code: 'profanity' as const, count: profane.length }] : []),
    ...characterFindings(text),
    ...shapeFindings(bounded(note.message), folded),
  ];
  const words = profane.length > 0 ? { profanity: profane.slice(0, MAX_WORDS) } : {};
  return { findings, words };
}
