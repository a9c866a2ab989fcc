/** The three experiences; each has a separate guestbook. */
export const EXPERIENCES = ['service', 'observatory', 'two-clerks'] as const;

export type Experience = (typeof EXPERIENCES)[number];

/** Reasons for reporting a public note or record. */
export const REPORT_REASONS = [
  'spam',
  'abuse',
  'illegal',
  'privacy',
  'impersonation',
  'other',
] as const;

export type ReportReason = (typeof REPORT_REASONS)[number];

/** The programs whose comments the operator can import as notes. */
export const IMPORT_SOURCES = ['isso', 'disqus', 'commento', 'remark42', 'wordpress'] as const;

export type ImportSource = (typeof IMPORT_SOURCES)[number];

/** The stream of a note's events, which its owner owns: the member, or for a guest the note's id. */
export const noteStream = (noteId: string): string => `note-${noteId}`;

/** The events in it whose text is the note. */
export const NOTE_TEXTS: readonly string[] = ['NoteSubmitted', 'NoteCorrected'];

/** The stream of moderators' comments on a note, which has the same owner. */
export const noteCommentStream = (noteId: string): string => `comment-note-${noteId}`;

/** The stream of the folds that were made from a note, which has the same owner. */
export const foldStream = (noteId: string): string => `fold-note-${noteId}`;

/** The stream of the screenings of a note, which has the same owner. */
export const screeningStream = (noteId: string): string => `screening-${noteId}`;
