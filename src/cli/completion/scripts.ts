/**
 * The scripts ask `cloche __complete -- WORDS…` what could come next, so they know no command themselves and need no update. An answer is lines of
 * `candidate TAB description`, or the one line `:files` to leave it to the shell.
 */
const BASH = String.raw`_cloche() {
  local line=${"$"}{COMP_LINE:0:COMP_POINT} current prefix candidate _
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${"$"}{words[${"$"}{#words[@]} - 1]}
  # bash takes ':' and '=' for the start of a new word and replaces only what follows
  prefix=${"$"}{current%"${"$"}{current##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    if [[ $candidate == :files ]]; then
      compopt -o default
      return
    fi
    COMPREPLY+=("${"$"}{candidate#"$prefix"}")
  done < <("${"$"}{words[0]}" __complete -- "${"$"}{words[@]:1}" 2>/dev/null)
}
complete -F _cloche cloche
`;

const ZSH = String.raw`#compdef cloche
_cloche() {
  local -a candidates
  local line name
  for line in "${"$"}{(@f)$("${"$"}{words[1]}" __complete -- "${"$"}{(@Q)words[2,CURRENT-1]}" "${"$"}{(Q)PREFIX}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == :files ]]; then
      compset -P '--*='
      _files
      return
    fi
    name=${"$"}{line%%$'\t'*}
    candidates+=("${"$"}{name//:/\\:}:${"$"}{line#*$'\t'}")
  done
  _describe cloche candidates
}
if [[ ${"$"}{funcstack[1]} == _cloche ]]; then
  # a file of a folder in fpath, loaded by the first completion
  _cloche "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _cloche cloche
fi
`;

const FISH = String.raw`function __cloche_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (cloche __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$answer[1]" = :files
        set -l option (string match -r -- '^--[^=]+=' "$current")
        string replace -r -- '^' "$option" (__fish_complete_path (string replace -- "$option" '' "$current"))
    else
        printf '%s\n' $answer
    end
end
complete -c cloche -f -a '(__cloche_complete)'
`;

export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
