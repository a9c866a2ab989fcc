/** SQL: the ids of the members whose accounts were closed and whose records have not all ended yet. */
const ENDING = `ARRAY(SELECT member_id FROM members
  WHERE ending IN ('keeps_notes', 'erases_notes'))`;
const ENDING_WITH_NOTES = `ARRAY(SELECT member_id FROM members WHERE ending = 'erases_notes')`;

/**
 * SQL: whether the records of the member in `column` are not about to end with a closed account.
 * Each statement reads the few such members once, not for each row.
 */
export const stays = (column: string): string => `(${column} = ANY (${ENDING})) IS NOT TRUE`;

/** The same for a note of a closed account in any state: public notes end only if asked for. */
export const hasEnded = (
  note: string,
): string => `(${note}.state <> 'approved' AND NOT ${stays(`${note}.member_id`)}
  OR ${note}.state = 'approved' AND NOT ${noteStays(`${note}.member_id`)})`;

/** The same for public notes, which end only if the member asked for it. */
export const noteStays = (column: string): string =>
  `(${column} = ANY (${ENDING_WITH_NOTES})) IS NOT TRUE`;
