import type { Owner } from '../platform/eventstore/owner.ts';

/**
 * The kinds of owners. Clients choose the ids of members and notes, so the same UUID may name a member, a
 * guest's note, a moderator and the service.
 */
export type OwnerKind = 'member' | 'guest_note' | 'moderator' | 'service';

export const memberOwner = (id: string): Owner<'member'> => ({ kind: 'member', id });

/** A guest has no id; what concerns a guest's note belongs to the note. */
export const guestNoteOwner = (id: string): Owner<'guest_note'> => ({ kind: 'guest_note', id });

export const moderatorOwner = (id: string): Owner<'moderator'> => ({ kind: 'moderator', id });

/** The owner of streams that belong to the whole service, such as its policies. */
export const SERVICE_OWNER: Owner<'service'> = {
  kind: 'service',
  id: '00000000-0000-4000-8000-000000000000',
};
