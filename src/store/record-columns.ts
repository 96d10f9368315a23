export type Value = string | number | null;
export type Row = Record<string, Value>;

/** Column of each field. `json` fields are kept as text. */
export type ColumnsOf<RecordType> = Readonly<
  Record<keyof RecordType & string, { readonly column: string; readonly json?: true }>
>;

/** How the fields of a record stand in a table; `fields` are in the order of `names`. */
export interface RecordColumns<RecordType> {
  readonly fields: readonly (keyof RecordType & string)[];
  /** For the text of a statement: `a, b, c`. */
  readonly names: string;
  /** As many question marks. */
  readonly marks: string;
  readonly nameOf: (field: keyof RecordType & string) => string;
  readonly toValue: (field: keyof RecordType & string, value: unknown) => Value;
  readonly toValues: (record: RecordType) => Value[];
  readonly toRecord: (row: Row) => RecordType;
}

export function recordColumns<RecordType extends object>(columns: ColumnsOf<RecordType>): RecordColumns<RecordType> {
  type Field = keyof RecordType & string;
  const fields = Object.keys(columns) as Field[];
  const toValue = (field: Field, value: unknown): Value => {
    if (value === null || value === undefined) return null;
    return columns[field].json ? JSON.stringify(value) : (value as Value);
  };
  return {
    fields,
    names: fields.map((field) => columns[field].column).join(", "),
    marks: fields.map(() => "?").join(", "),
    nameOf: (field) => columns[field].column,
    toValue,
    toValues: (record) => fields.map((field) => toValue(field, record[field])),
    toRecord: (row) => {
      const entries = fields.map((field) => {
        const { column, json } = columns[field];
        const value = row[column] ?? null;
        return [field, json && typeof value === "string" ? (JSON.parse(value) as unknown) : value];
      });
      return Object.fromEntries(entries) as RecordType;
    },
  };
}
