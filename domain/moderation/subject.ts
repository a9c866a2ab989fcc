import { RECORD_TYPES } from '../publications/words.ts';

/** What moderators decide and comment on. */
export const SUBJECT_TYPES = ['note', ...RECORD_TYPES, 'member'] as const;

/** A note, a record that was published without review, or a membership. */
export interface Subject {
  type: (typeof SUBJECT_TYPES)[number];
  id: string;
}

/** A key for maps of subjects. */
export const subjectKey = ({ type, id }: Subject): string => `${type} ${id}`;
