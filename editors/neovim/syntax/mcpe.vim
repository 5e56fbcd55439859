" Made by tools/textmate.py from the language's tables: change those.
if exists("b:current_syntax") | finish | endif
syn iskeyword @,48-57,_,-
syn match mcpeDeclaration contained "\<\%(annotations\|arm\|check\|compare\|environment\|for\|gate\|harvest\|host\|import\|judge\|let\|lift\|matrix\|model\|profile\|scorecard\|server\|suite\|table\|task\)\>"
syn match mcpeWord contained "\<\%(about\|additive\|allow\|answer\|anthropic\|any\|any_message\|as\|at\|auth\|baseline\|because\|budget\|calibration\|calls\|canary\|capability\|catalog\|checkout\|claim\|claude_code\|client_id\|client_secret\|cluster\|codex\|columns\|command\|compatibility\|confirm\|conformance\|contains\|copilot_cli\|copy\|defaults\|destructive\|dialogue\|difficulty\|disconnect\|distract\|efficiency\|elicit\|env\|error\|every\|evidence\|exact\|exclude\|exit\|expect\|expired_credential\|fault\|format\|garbage\|gemini_cli\|goal\|grade\|header\|hide\|host_tools\|http\|idempotent\|ignore\|include\|inject\|instructions\|into\|json\|kappa\|kind\|known_failure\|knows\|latency\|litellm\|load\|local\|lock\|max_tokens\|max_turns\|may\|near\|needs\|network\|never\|not\|number\|numbers\|oauth\|obeyed\|on\|one_of\|opencode\|origin\|parallel_tools\|permissions\|permit\|persona\|policy\|port\|prepare\|price\|private\|probability\|prompt\|protocol\|protocol_error\|protocol_errors\|purpose\|python\|qwen_code\|rate\|read\|readonly\|ready\|reference\|regex\|reliability\|render\|repeats\|replace\|replay\|require\|reset\|result\|results\|retry_after\|row\|rules\|run\|safety\|same_state\|schema\|scope\|scopes\|script\|second\|seed\|servers\|session\|set\|setup\|severity\|shell\|show\|simulate\|slow\|source\|split\|splits\|start\|state\|stdio\|stop\|system\|tags\|task_success\|teardown\|temperature\|text\|thinking\|threshold\|timeout\|tool\|tool_choice\|tool_prefix\|tool_result_limit\|tool_search\|tool_suffix\|tools\|transcript\|transport\|trials\|trust\|truth\|turn\|turns\|unchanged\|undo\|unknown\|unordered\|unpack\|until\|use\|user\|version\|view\|weight\|when\|write\)\>"
syn match mcpeStatement "\%(^\|[{;]\)\s*\zs\h[[:alnum:]_-]*\>\%(\s*[,:.)\]=]\)\@!" contains=mcpeDeclaration,mcpeWord
syn match mcpeNumber "\<-\?\$\?\d[0-9_]*\%(\.\d\+\)\?\%(ms\|KB\|MB\|GB\|[smhdkM%]\)\?"
syn match mcpeOperator "==\|!=\|<=\|>=\|!\?\~\|[<>=]"
syn match mcpePath "\$\%(\.\.\?[[:alnum:]_*-]\+\|\[[^]]*\]\)*"
syn match mcpeRegex "\%([ (,:]\)\@1<=/[^/*[:space:]]\%(\\.\|[^/\\]\)*/[imsx]*"
syn match mcpeEscape contained "\\\%(u\x\{4}\|["\\/nrt]\)"
syn match mcpeTemplate contained "{{[^{}]*}}"
syn region mcpeString start=+"+ skip=+\\.+ end=+"+ oneline contains=mcpeEscape,mcpeTemplate
syn region mcpeString start=+\<r"+ end=+"+ oneline
syn region mcpeText start=+\z("\{3,}\)+ end=+\z1+ contains=mcpeTemplate
syn region mcpeText start=+\<r\z("\{3,}\)+ end=+\z1+
syn match mcpeComment "#.*$"
hi def link mcpeDeclaration Structure
hi def link mcpeWord Statement
hi def link mcpeNumber Number
hi def link mcpeOperator Operator
hi def link mcpePath Identifier
hi def link mcpeRegex String
hi def link mcpeEscape SpecialChar
hi def link mcpeTemplate Special
hi def link mcpeString String
hi def link mcpeText String
hi def link mcpeComment Comment
let b:current_syntax = "mcpe"
