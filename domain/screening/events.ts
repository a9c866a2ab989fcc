import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { BANDS, FINDING_CODES } from './rules.ts';

/** Keyed hashes as signed 64-bit numbers; they are erased together with the text. */
const Fingerprint = z.strictObject({
  key_id: z.int(),
  whole: z.string(),
  parts: z.array(z.string()),
});

/** How often the author had corrected the text that was read; absent of the first text. */
const corrections = z.int().positive().optional();

export const NoteScreened = defineEvent('NoteScreened', {
  summary:
    'What one version of the rules found in a note. It has a separate stream (`screening-<note_id>`), so that a worker never changes the version that a moderator decides on.',

  data: z.strictObject({
    note_id: z.uuid(),
    corrections,
    rules_version: z.int().min(1),
    band: z.enum(BANDS),
    findings: z.array(
      z.strictObject({ code: z.enum(FINDING_CODES), count: z.int().nonnegative() }),
    ),
  }),
  personal: z.strictObject({
    /** Words of the note that a finding refers to, by finding code. */
    words: z.partialRecord(z.enum(FINDING_CODES), z.array(z.string())),
    /**
     * Start and end, in code points, of the parts of the message that a finding refers to; absent
     * from screenings by versions 1 and 2 of the rules.
     */
    spans: z
      .partialRecord(
        z.enum(FINDING_CODES),
        z.array(z.tuple([z.int().nonnegative(), z.int().positive()])),
      )
      .optional(),
    fingerprint: Fingerprint,
  }),
});

export const NoteFingerprinted = defineEvent('NoteFingerprinted', {
  summary:
    'A decision was made on a note that was not screened yet: its fingerprint, by which the same text is recognised from then on. In the stream of screenings of the note.',

  data: z.strictObject({ note_id: z.uuid(), corrections }),
  personal: z.strictObject({ fingerprint: Fingerprint }),
});
