import { Box, Text, useInput } from "ink";
import { useSyncExternalStore } from "react";
import { type Key, toKey } from "./key.ts";
import type { Line, Tone } from "./line.ts";
import { screenLines } from "./screen-view.ts";
import type { State } from "./state.ts";

/** Where the picture's state comes from, and where keys go. */
export interface Store {
  readonly state: () => State;
  /** Calls back at each change, until the returned function is called. */
  readonly subscribe: (onChange: () => void) => () => void;
  readonly press: (key: Key) => void;
}

const LOOKS = {
  plain: {},
  quiet: { dimColor: true },
  strong: { bold: true },
  added: { color: "green" },
  removed: { color: "red" },
  warning: { color: "yellow" },
  chosen: { inverse: true },
} as const satisfies Record<Tone, object>;

/** The picture: lines that were made to fit, drawn as they are. */
export function Screen({ store, hasColour }: { readonly store: Store; readonly hasColour: boolean }) {
  const state = useSyncExternalStore(store.subscribe, store.state);
  useInput((input, key) => {
    const pressed = toKey(input, key);
    if (pressed) store.press(pressed);
  });
  return (
    <Box flexDirection="column" width={state.cols}>
      {screenLines(state).map((one, at) => (
        <OneLine key={at} line={one} hasColour={hasColour} />
      ))}
    </Box>
  );
}

function OneLine({ line, hasColour }: { readonly line: Line; readonly hasColour: boolean }) {
  return (
    <Box height={1}>
      <Text wrap="truncate">
        {/* Without a text a line has no height. */}
        {line.every(({ text }) => text === "") ? " " : null}
        {line.map(({ text, tone }, at) => (
          <Text key={at} {...(hasColour ? LOOKS[tone] : {})}>
            {text}
          </Text>
        ))}
      </Text>
    </Box>
  );
}
