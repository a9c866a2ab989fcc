import type { Item, Subject } from './wire.ts';

/**
 * What an item is called in the console: a note by its id, a record by its kind and its id, since
 * the ids of two kinds may be the same.
 */
export const nameOf = ({ type, id }: Subject): string => (type === 'note' ? id : `${type}/${id}`);

export const subjectOf = (name: string): Subject => {
  const [type = '', id] = name.split('/');
  return id === undefined ? { type: 'note', id: name } : { type: type as Subject['type'], id };
};

export const pathOf = (name: string): string =>
  name.includes('/') ? `subjects/${name}` : `notes/${name}`;

/** An item as the service gives it, under its name in the console. */
export const named = <Given extends Item>(item: Given): Given =>
  'subject' in item ? { ...item, id: nameOf(item.subject) } : item;
