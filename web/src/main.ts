import { mount } from "svelte";
import "./app.css";
import App from "./App.svelte";
import { applyTheme, chosenTheme } from "./lib/theme";

applyTheme(chosenTheme());

const target = document.getElementById("app");
if (target === null) throw new Error("The page has no place for the app.");

export default mount(App, { target });
