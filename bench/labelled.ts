import { randomBytes } from 'node:crypto';
import type { Finding } from '../domain/screening/rules.ts';
import { mailCorpus, NO_TOOLS } from '../harness/tools.ts';
import { keyRing } from '../platform/keys/key-ring.ts';
import type { LookAlikeRow } from '../projections/screening/screenings.ts';
import { likeness, toFingerprints, toShingles } from '../services/screening/fingerprint.ts';
import { lookAlikeFindings } from '../services/screening/look-alikes.ts';
import { noteFromMail } from './mail-text.ts';

export interface Labelled {
  message: string;
  spam: boolean;
  /** Number shared by identical and similar texts, which stay in the same half. */
  family: number;
  /** Look-alike findings against earlier texts, as if each had been decided as labelled. */
  lookAlikes: Finding[];
}

const keys = keyRing([{ id: 1, secret: randomBytes(32) }]);
/** Likeness within a family; less than screening requires, so no text leaks into the other half. */
const FAMILY = 0.4;
const MAX_LIKE = 50;

/** Every `every`th text of the corpus in its original order, each cut to the length of a note. */
export function labelledNotes(every: number): Labelled[] {
  const corpus = mailCorpus();
  if (!corpus) throw new Error(NO_TOOLS);
  const notes: Labelled[] = corpus
    .filter((_, index) => index % every === 0)
    .map(({ group, text }) => ({ message: noteFromMail(text), spam: group.startsWith('spam') }))
    .filter(({ message }) => message.length > 0)
    .map((note, family) => ({ ...note, family, lookAlikes: [] }));
  const shingles = notes.map(({ message }) => toShingles(message));
  const byHash = new Map<string, number[]>();
  const parent = notes.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (parent[at] !== at) at = parent[at] ?? at;
    return at;
  };
  for (const [index, note] of notes.entries()) {
    const [print] = toFingerprints(keys, note.message);
    if (!print) continue;
    const same = byHash.get(print.whole) ?? [];
    const like = [...new Set(print.parts.flatMap((part) => byHash.get(part) ?? []))];
    note.lookAlikes = lookAlikeFindings(note.message, [
      ...same.map((other) => candidate(notes, other, true)),
      ...like.slice(-MAX_LIKE).map((other) => candidate(notes, other, false)),
    ]);
    for (const other of [...same, ...like])
      if (
        root(other) !== root(index) &&
        (same.includes(other) ||
          likeness(shingles[index] ?? new Set(), shingles[other] ?? new Set()) >= FAMILY)
      )
        parent[root(index)] = root(other);
    for (const hash of [print.whole, ...print.parts])
      byHash.set(hash, [...(byHash.get(hash) ?? []), index]);
  }
  return notes.map((note, index) => ({ ...note, family: root(index) }));
}

function candidate(notes: readonly Labelled[], index: number, same: boolean): LookAlikeRow {
  const { spam = false, message = '' } = notes[index] ?? {};
  const state = spam ? 'rejected' : 'approved';
  return { note_id: String(index), state, same, message: same ? null : message };
}
