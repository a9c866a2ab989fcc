/** Something that was public and is not any more, and since when. */
export interface TakenDownRow {
  id: string;
  at: Date;
}
