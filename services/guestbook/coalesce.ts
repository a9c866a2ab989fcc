/**
 * At most one piece of work for a key at a time. Who asks while one is under way waits for the next,
 * which all of them share: every answer was begun after it was asked for, so none is stale.
 */
export function coalesce<Result>() {
  const lanes = new Map<string, { ended: Promise<void>; next?: Promise<Result> }>();

  function begin(key: string, work: () => Promise<Result>): Promise<Result> {
    const result = work();
    const forget = () => {
      if (!lane.next) lanes.delete(key);
    };
    const lane: { ended: Promise<void>; next?: Promise<Result> } = {
      ended: result.then(forget, forget),
    };
    lanes.set(key, lane);
    return result;
  }

  return (key: string, work: () => Promise<Result>): Promise<Result> => {
    const lane = lanes.get(key);
    if (!lane) return begin(key, work);
    lane.next ??= lane.ended.then(() => begin(key, work));
    return lane.next;
  };
}
