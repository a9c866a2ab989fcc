import { RECORD_TYPES, type RecordType } from '../publications/record-type.ts';

/** An item of the queue: a note, or a record that was published without review. */
export interface Subject {
  type: 'note' | RecordType;
  id: string;
}

/** What moderators comment on: an item, or its author. */
export const COMMENT_SUBJECTS = ['note', ...RECORD_TYPES, 'member'] as const;

export interface CommentSubject {
  type: (typeof COMMENT_SUBJECTS)[number];
  id: string;
}

/** A key for maps of subjects. */
export const subjectKey = ({ type, id }: Subject): string => `${type} ${id}`;
