"""Text that names a model: an annotator who reads "As an AI developed by OpenAI" is no longer blind to the system."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple


class ModelName(NamedTuple):
    """A name and how it is found.

    Attributes:
        title: the name as it is reported.
        anchors: lower-case words, comma-separated, one of which every spelling contains; they are looked for first.
        pattern: the spellings, for the `re` module; the name may not touch another ASCII letter or digit.
    """

    title: str
    anchors: str
    pattern: str


_MADE_BY: Final = "(?i:(?:trained|developed|created|built|made) by )"

VENDORS: Final = (
    ModelName("OpenAI", "openai,open ai", "(?i:Open ?AI)"),
    ModelName("Anthropic", "anthropic", "(?i:Anthropic)"),
    ModelName("DeepMind", "deepmind", "(?i:DeepMind)"),
    ModelName("Google", "google", f"Google AI|{_MADE_BY}Google"),
    ModelName("Meta", "meta", f"Meta AI|{_MADE_BY}Meta"),
    ModelName("Microsoft", "microsoft", f"{_MADE_BY}Microsoft"),
    ModelName("Alibaba", "alibaba,阿里云,达摩院", f"(?i:Alibaba Cloud)|{_MADE_BY}Alibaba|阿里云|达摩院"),
    ModelName("Baidu", "baidu,百度", f"{_MADE_BY}Baidu|百度(?:研发|开发|训练)"),
    ModelName("Moonshot AI", "moonshot,月之暗面", "(?i:Moonshot ?AI)|月之暗面"),
    ModelName("Zhipu AI", "zhipu,智谱", "(?i:Zhipu(?: ?AI)?)|智谱"),
    ModelName("Mistral AI", "mistral", "(?i:Mistral ?AI)"),
    ModelName("xAI", "xai", "xAI"),
    ModelName("Cohere", "cohere", f"{_MADE_BY}Cohere"),
)
MODELS: Final = (
    ModelName("ChatGPT", "gpt", "(?i:Chat-?GPT)"),
    ModelName("GPT", "gpt", r"(?i:GPT)(?:[- ]?[2-9](?:\.\d)?(?:o|(?i:[- ]?(?:turbo|mini|nano|pro)))*|-oss)"),
    ModelName("OpenAI o-series", "o1-,o3-,o4-", "o[134]-(?:mini|pro|preview)"),
    ModelName("Claude", "claude,克劳德", r"Claude|CLAUDE|claude-[\w.-]+|克劳德"),
    ModelName("Gemini", "gemini", r"Google Gemini|(?i:Gemini[ -](?:pro|ultra|nano|flash|advanced|\d(?:\.\d)?)[\w.-]*)"),
    ModelName("Bard", "google bard", "Google Bard"),
    ModelName("PaLM", "palm", "(?:Med-?)?PaLM(?:[ -]?[23M])?"),
    ModelName("Gemma", "gemma", r"(?:Med)?Gemma(?:[ -]?\d)?|gemma-?\d"),
    ModelName("Llama", "llama", r"(?i:Code ?Llama|Llama[ -]?[1-9](?:\.\d)?)|LLaMA"),
    ModelName("Mistral", "mistral,mixtral", r"(?i:Mistral[- ](?:\d+B|large|medium|small|nemo)|Mixtral)"),
    ModelName("Qwen", "qwen,qwq,通义", r"(?i:Qwen)[\d.]*|(?i:Tongyi Qianwen)|QwQ|通义千问|通义"),
    ModelName("DeepSeek", "deepseek,deep seek,深度求索", "(?i:Deep ?Seek)|深度求索"),
    ModelName("ERNIE", "ernie,文心", "ERNIE(?: Bot)?|文心一言|文心大模型"),
    ModelName("Doubao", "doubao,豆包", "(?i:Doubao)|豆包"),
    ModelName("Kimi", "kimi", "Kimi"),
    ModelName("GLM", "glm", r"(?i:ChatGLM|GLM)-?\d[\w.-]*|ChatGLM"),
    ModelName("Hunyuan", "hunyuan,混元", "(?i:Hunyuan)|混元"),
    ModelName("Spark", "讯飞星火,星火大模型", "讯飞星火|星火大模型"),
    ModelName("Baichuan", "baichuan,百川", r"(?i:Baichuan)\d?|百川大模型|百川智能"),
    ModelName("InternLM", "internlm,书生", r"(?i:InternLM)\d?|书生·?浦语"),
    ModelName("MiniMax", "minimax", "MiniMax"),
    ModelName("Yi", "yi-,零一万物", r"Yi-\d+B|零一万物"),
    ModelName("Phi", "phi-", r"(?i:Phi)-[1-9](?:\.\d)?"),
    ModelName("Command R", "command", r"Command[- ]R\+?"),
    ModelName("Grok", "grok", r"Grok(?:[- ]?\d)?"),
    ModelName("Copilot", "copilot", "(?:Microsoft|GitHub|Bing) Copilot"),
    ModelName("Falcon", "falcon", r"Falcon-?\d+B"),
    ModelName("Vicuna", "vicuna", r"Vicuna(?:-\d+B)?"),
    ModelName("Nova", "amazon nova", "Amazon Nova"),
    ModelName("HuatuoGPT", "huatuo,华佗", "(?i:Huatuo(?:GPT)?)|华佗GPT"),
)
MEMORY_SYSTEMS: Final = (
    ModelName("Mem0", "mem0,mem-0,memzero", "(?i:Mem-?0|MemZero)"),
    ModelName("MemOS", "memos,mem-os,evermem", "(?:MemOS|MEMOS|Mem-OS|memos-)|(?i:EverMem(?:OS)?)"),
    ModelName("Zep", "zep", "Zep|ZEP"),
    ModelName("Graphiti", "graphiti", "Graphiti"),
    ModelName("Letta", "letta", "Letta"),
    ModelName("MemGPT", "memgpt", "(?i:MemGPT)"),
    ModelName("Memobase", "memobase", "(?i:Memobase)"),
    ModelName("Supermemory", "supermemory", "(?i:Supermemory)"),
    ModelName("LangMem", "langmem", "(?i:LangMem)"),
    ModelName("MemoryBank", "memorybank", "(?i:MemoryBank)"),
    ModelName("MemoryOS", "memoryos", "(?i:MemoryOS)"),
    ModelName("A-MEM", "a-mem", "A-MEM|A-Mem"),
    ModelName("LightMem", "lightmem", "(?i:LightMem)"),
    ModelName("Cognee", "cognee", "(?i:Cognee)"),
    ModelName("MIRIX", "mirix", "MIRIX"),
)
MODEL_NAMES: Final = (*VENDORS, *MODELS, *MEMORY_SYSTEMS)
"""Every name that is looked for. Names that are also words or first names (Gemini, Mistral, Falcon, Nova, memos) count
only with a version, a vendor or their own capitals; "Claude" counts always: blindness is worth a false flag."""


@lru_cache(maxsize=len(MODEL_NAMES))
def _spellings(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9_])")


def model_names_in(text: str) -> list[str]:
    """The vendors, models and memory systems that `text` names, each once, in the order they first appear.

    "我是ChatGPT。" names one, "zeppelin" does not.
    """
    lowered = text.lower()
    found: list[tuple[int, str]] = []
    for name in MODEL_NAMES:
        if any(anchor in lowered for anchor in name.anchors.split(",")):
            match = _spellings(name.pattern).search(text)
            if match:
                found.append((match.start(), name.title))
    return [title for _, title in sorted(found)]
