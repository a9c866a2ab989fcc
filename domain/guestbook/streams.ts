/** The stream of a note's events, which its owner owns: the member, or for a guest the note's id. */
export const noteStream = (noteId: string): string => `note-${noteId}`;

/** The stream of moderators' comments on a note, which has the same owner. */
export const noteCommentStream = (noteId: string): string => `comment-note-${noteId}`;

/** The stream of the folds that were made from a note, which has the same owner. */
export const foldStream = (noteId: string): string => `fold-note-${noteId}`;

/** The stream of the screenings of a note, which has the same owner. */
export const screeningStream = (noteId: string): string => `screening-${noteId}`;
