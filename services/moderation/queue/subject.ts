import type { RecordType } from '../../publications/record-type.ts';

/** An item of the queue: a note, or a record that was published without review. */
export interface Subject {
  type: 'note' | RecordType;
  id: string;
}

/** A key for maps of subjects. */
export const subjectKey = ({ type, id }: Subject): string => `${type} ${id}`;
