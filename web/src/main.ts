import { mount } from "svelte";
import "./style/index.css";
import App from "./app/App.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("The page has no place for the app.");

export default mount(App, { target });
