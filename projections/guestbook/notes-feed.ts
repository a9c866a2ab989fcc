import * as notes from '../../domain/guestbook/events.ts';
import { defineFeedEntries, type FeedEntry } from '../feed-entry.ts';

const note = (id: string) => ({ type: 'note', id });
/** Hides which moderator acted. */
const MODERATOR = { type: 'moderator' as const };

/** Notifies the author of the parent note that a reply became public. */
function replied(
  reply: { note_id: string; experience?: string },
  parent: string | null,
  parentAuthor: string | null,
  author: string | null,
): FeedEntry[] {
  if (!parent || !parentAuthor || parentAuthor === author) return [];
  return [
    {
      member: parentAuthor,
      type: 'note.replied',
      subject: note(parent),
      data: { reply_id: reply.note_id },
      actor: author ? { type: 'member', id: author } : { type: 'guest' },
    },
  ];
}

function resolved(
  reports: readonly { report_id: string; member_id: string | null }[],
  outcome: 'kept' | 'removed' | 'withdrawn',
  noteId: string,
  author: string | null,
): FeedEntry[] {
  return reports.flatMap(({ report_id, member_id }) =>
    member_id && member_id !== author
      ? [
          {
            member: member_id,
            type: 'report.resolved',
            subject: { type: 'report', id: report_id },
            data: { outcome, subject: note(noteId) },
            actor: outcome === 'withdrawn' ? { type: 'service' as const } : MODERATOR,
          },
        ]
      : [],
  );
}

/**
 * `DecisionTold` notifies the author of a decision, once its moderator can no longer undo the
 * decision.
 */
export const notesFeed = defineFeedEntries(notes, {
  NoteSubmitted: ({ data }) =>
    data.member_id === null
      ? []
      : {
          member: data.member_id,
          type: 'note.submitted',
          subject: note(data.note_id),
          data: { experience: data.experience, parent_id: data.parent_id },
        },
  DecisionTold: ({ data, actor }) => {
    const { note_id, outcome, policy, message, appeal_until, member_id } = data;
    if (outcome === 'overturned') return resolved(data.reports, 'kept', note_id, member_id);
    if (outcome === 'kept') return resolved(data.reports, 'kept', note_id, null);
    if (outcome === 'granted' || outcome === 'upheld') {
      const { appeal, parent_id, parent_author_id } = data;
      if (!appeal || !member_id) return [];
      return [
        appealDecided({ ...appeal, note_id, member_id }, `appeal.${outcome}`),
        ...replied(data, parent_id, parent_author_id, member_id),
        ...resolved(data.reports, 'removed', note_id, member_id),
      ];
    }
    const refused = outcome === 'rejected' || outcome === 'removed';
    const own: FeedEntry[] = member_id
      ? [
          {
            member: member_id,
            type: `note.${outcome}`,
            subject: note(note_id),
            data: refused
              ? { decision_id: data.of, policy, message, appeal_until }
              : { decision_id: data.of, parent_id: data.parent_id },
            actor: { type: actor.type },
          },
        ]
      : [];
    // The event of a restored reply names the parent's author only if no approval was announced.
    const reply =
      outcome === 'approved' || outcome === 'restored'
        ? replied(data, data.parent_id, data.parent_author_id, member_id)
        : [];
    return [...own, ...reply, ...resolved(data.reports, 'removed', note_id, member_id)];
  },
  NoteWithdrawn: ({ owner_id, data, actor }) =>
    // An imported note has no member as its author.
    data.cause === 'import_undone'
      ? resolved(data.reports, 'withdrawn', data.note_id, null)
      : [
          {
            member: owner_id,
            type: 'note.withdrawn',
            subject: note(data.note_id),
            data: {},
            actor: actor.type === 'moderator' ? MODERATOR : actor,
          },
          ...resolved(data.reports, 'withdrawn', data.note_id, owner_id),
        ],
  NoteReported: ({ data }) =>
    data.member_id === null
      ? []
      : {
          member: data.member_id,
          type: 'report.received',
          subject: { type: 'report', id: data.report_id },
          data: {
            subject: note(data.note_id),
            reason: data.reason,
            already_reviewed: data.silent,
          },
        },
  // A granted appeal that is undone: what was reported while the note was public is not public again.
  DecisionUndone: ({ data }) => resolved(data.reports ?? [], 'removed', data.note_id, null),
  // The next three announce themselves only if they cannot be undone.
  ReportsDismissed: ({ data }) =>
    data.undoable ? [] : resolved(data.reports, 'kept', data.note_id, null),
  AppealOpened: ({ data }) => ({
    member: data.member_id,
    type: 'appeal.opened',
    subject: { type: 'appeal', id: data.appeal_id },
    data: { note_id: data.note_id, decision_id: data.of },
  }),
  AppealGranted: ({ data }) =>
    data.undoable
      ? []
      : [
          appealDecided(data, 'appeal.granted'),
          ...replied(data, data.parent_id, data.parent_author_id, data.member_id),
        ],
  AppealUpheld: ({ data }) => (data.undoable ? [] : appealDecided(data, 'appeal.upheld')),
});

function appealDecided(
  data: { appeal_id: string; note_id: string; of: string; member_id: string },
  type: FeedEntry['type'],
): FeedEntry {
  return {
    member: data.member_id,
    type,
    subject: { type: 'appeal', id: data.appeal_id },
    data: { note_id: data.note_id, decision_id: data.of },
    actor: MODERATOR,
  };
}
