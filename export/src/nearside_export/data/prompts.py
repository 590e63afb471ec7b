"""Plain requests that a language model is to answer; written for this project."""

PROMPTS = (
    "What is the capital of France?",
    "Why is the sky blue?",
    "Write a short poem about the sea.",
    "How do I boil an egg?",
    "Name three kinds of trees.",
    "What does a library do?",
    "Explain gravity to a child.",
    "Give me a recipe for pancakes.",
    "What is the largest planet in our solar system?",
    "Tell me a story about a dog who found a key.",
    "How many days are in a year?",
    "What are the benefits of walking?",
    "Describe winter in the mountains.",
    "What is photosynthesis?",
    "What should I pack for a trip to the beach?",
    "Who wrote Hamlet?",
    "Write an email asking for a day off.",
    "What is the difference between a lake and a river?",
    "Suggest a name for a cat and say why.",
    "How does a bicycle stay upright?",
)
