import type { Subject } from '../../../domain/moderation/subject.ts';
import { memberOwner, type Owner } from '../../../platform/eventstore/owner.ts';
import type { Sql } from '../../../platform/sql.ts';
import { noteOwners, ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { findMember } from '../../../projections/membership/members.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import { noMembers, type PublicationKind } from '../../publications/publication-kind.ts';

interface OwnerRead {
  find: Sql<object>;
  /** The owner in what `find` read; undefined if there is no such subject. */
  from(rows: readonly object[]): Owner | undefined;
}

const read = <Row extends object>(find: Sql<Row>, toOwner: (row: Row) => Owner): OwnerRead => ({
  find,
  from: ([row]) => row && toOwner(row as Row),
});

const ofMember = ({ member_id }: { member_id: string }) => memberOwner(member_id);

/** Finds who owns the streams of something that moderators review: its author, or the note of a guest. */
export function readOwner({ type, id }: Subject, kinds: readonly PublicationKind[]): OwnerRead {
  if (type === 'note') return read(noteOwners([id]), ownerOfNote);
  if (type === 'member') return read(findMember(id), ofMember);
  const kind = kinds.find((one) => one.type === type);
  return read(kind ? recordAuthors(kind.records([id])) : noMembers(), ofMember);
}
